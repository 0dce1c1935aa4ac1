"""All that can be reached through public attributes and containers."""

from __future__ import annotations

import datetime
import inspect
import types
from collections import deque
from collections.abc import Iterator, Mapping, Set, ValuesView
from pathlib import PurePath
from typing import Any

import numpy as np

from arena.check.base import require

_LEAVES = (
    type(None), bool, int, float, complex, str, bytes, np.generic, np.random.Generator,
    datetime.date, datetime.timedelta, PurePath, types.ModuleType, types.GeneratorType, type,
)  # fmt: skip
_BUILT_IN = (dict, list, tuple, set, frozenset)  # a space may be a mapping with attributes
_DEEPEST = 50
_MOST = 200_000


def walk(root: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield (how it is reached, object), `root` first, in an order that depends on names alone.

    Attributes that begin with an underscore, methods, functions, modules and classes are passed
    over, and each container or object is entered once. A corpus and its views are not entered:
    they are the door to the papers, and know no label.

    Raises:
        CheckError: if there are more than 200,000 objects, or one is more than 50 steps away, so
            that nothing is passed over in silence.
    """
    from arena.corpus import Corpus
    from arena.corpus.view import CorpusView

    closed = (*_LEAVES, Corpus, CorpusView)
    seen: set[int] = set()
    held = []  # so that no id is given twice
    waiting: list[tuple[str, Any, int]] = [(name, root, 0)]
    count = 0
    while waiting:
        require(count < _MOST, f"{name} leads to more than {_MOST:,} objects, too many to look at")
        path, value, depth = waiting.pop()
        if not isinstance(value, _LEAVES):
            if id(value) in seen:
                continue
            seen.add(id(value))
            held.append(value)
        count += 1
        yield path, value
        if not isinstance(value, closed):
            below = [(where, item, depth + 1) for where, item in _inside(path, value)]
            deep = below and depth >= _DEEPEST
            require(not deep, f"{name} leads on after {_DEEPEST} steps, too deep to look at")
            waiting.extend(reversed(below))


def collected(value: Any) -> set[str] | None:
    """Return the strings of a container, the keys of a mapping; None if it is no container."""
    if isinstance(value, np.ndarray):
        value = value.ravel().tolist()
    if isinstance(value, Mapping | Set | list | tuple):
        return {str(item) for item in value if isinstance(item, str)}
    return None


def _inside(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, np.ndarray):
        value = value.ravel().tolist()
    if isinstance(value, Mapping):
        for key, item in list(value.items()):
            yield f"{path}[{key!r:.40}] (key)", key
            yield f"{path}[{key!r:.40}]", item
    elif isinstance(value, Set):
        for item in sorted(value, key=repr):
            yield f"{path}{{...}}", item
    elif isinstance(value, list | tuple | deque | ValuesView):
        for number, item in enumerate(list(value)):
            yield f"{path}[{number}]", item
    for attribute in () if type(value) in _BUILT_IN else dir(value):
        if attribute.startswith("_"):
            continue
        try:
            item = getattr(value, attribute)
        except Exception:  # an attribute that cannot be read tells nothing
            continue
        if not inspect.isroutine(item) and not isinstance(item, type | types.ModuleType):
            yield f"{path}.{attribute}", item
