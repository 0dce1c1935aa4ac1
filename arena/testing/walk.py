"""Walking values: all that an object leads to, and the leaves and differences of values of JSON."""

from __future__ import annotations

import datetime
import inspect
import json
import types
from collections import deque
from collections.abc import Iterator, Mapping, Set, ValuesView
from pathlib import PurePath
from typing import Any

import numpy as np

from arena.testing.report import require

_LEAVES = (
    type(None), bool, int, float, complex, str, bytes, np.generic, np.random.Generator,
    datetime.date, datetime.timedelta, PurePath, types.ModuleType, types.GeneratorType, type,
)  # fmt: skip
_BUILT_IN = (dict, list, tuple, set, frozenset)  # a space may be a mapping with attributes
_DEEPEST = 50
_MOST = 200_000


def walk(root: Any, name: str, corpora: bool = False) -> Iterator[tuple[str, Any]]:
    """Yield (path, object) for `root` and everything that it leads to.

    Attributes that begin with an underscore, methods, functions, modules and classes are left out.
    Each container or object is entered once.

    Args:
        root: Object to begin with.
        name: Name of `root` in the paths.
        corpora: Whether to enter a corpus and its views. They are the door to the papers, and what
            they hold, such as the directory, differs from one copy of a corpus to another.

    Raises:
        CheckError: An object holds labels; or there are more than 200,000 objects or one is more
            than 50 steps away, so that nothing is left out silently.
    """
    from arena.corpus import Corpus
    from arena.corpus.view import CorpusView
    from arena.mindmap import MindMap
    from arena.tasks import Gold, TaskSet

    closed = _LEAVES if corpora else (*_LEAVES, Corpus, CorpusView)
    entered: dict[int, Any] = {}  # holds the objects, so that no address is used twice
    waiting: list[tuple[str, Any, int]] = [(name, root, 0)]
    count = 0
    while waiting:
        require(count < _MOST, f"{name} leads to more than {_MOST:,} objects, too many to look at")
        path, value, depth = waiting.pop()
        if isinstance(value, np.ndarray | np.void):
            value = value.tolist()
        if isinstance(value, TaskSet | Gold | MindMap):
            require(False, f"{path} is a {type(value).__name__}, which holds labels")
        if not isinstance(value, _LEAVES):
            if id(value) in entered:
                continue
            entered[id(value)] = value
        count += 1
        yield path, value
        if not isinstance(value, closed):
            below = [(where, item, depth + 1) for where, item in _inside(path, value)]
            deep = below and depth >= _DEEPEST
            require(not deep, f"{name} leads on after {_DEEPEST} steps, too deep to look at")
            waiting.extend(reversed(below))


def leaves(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (nearest key above, leaf) for a value of JSON; keys are leaves, too."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        key, item = waiting.pop()
        if isinstance(item, Mapping):
            for name, below in reversed(list(item.items())):
                waiting += [(str(name), below), (key, name)]
        elif isinstance(item, list | tuple):
            waiting += [(key, below) for below in reversed(item)]
        else:
            yield key, item


def strings(value: Any) -> Iterator[tuple[str, str]]:
    """Yield (nearest key above, text) for the strings in a value of JSON, as `leaves` does."""
    return ((key, leaf) for key, leaf in leaves(value) if isinstance(leaf, str))


def values_of(key: str, value: Any) -> list[str]:
    """Return the strings below every `key` in a value of JSON, in order."""
    return [text for name, text in strings(value) if name == key]


def parsed(text: Any) -> Any:
    """Return the value of JSON in `text`, or None if it is not JSON."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None


def first_difference(one: Any, other: Any) -> str | None:
    """Return where and how two plain values first differ, or None."""
    first, second = dict(flat(one)), dict(flat(other))
    for path in first | second:
        place = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
        place = place.removeprefix(".") or "value"
        if path not in first or path not in second:
            return f"{place} is there only the {'first' if path in first else 'second'} time"
        a, b = first[path], second[path]
        if type(a) is type(b) and a == b:
            continue
        if isinstance(a, str) and isinstance(b, str):
            pairs = enumerate(zip(a, b, strict=False))
            at = next((n for n, (x, y) in pairs if x != y), min(len(a), len(b)))
            parts = " and then ".join(repr(text[max(0, at - 20) : at + 30]) for text in (a, b))
            return f"{place} differs at character {at}: {parts}"
        return f"{place} is {a!r:.60} and then {b!r:.60}"
    return None


def flat(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Yield (the keys and indexes that lead to it, leaf) for a value of JSON."""
    if isinstance(value, dict | list) and value:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from flat(item, (*path, key))
    else:
        yield path, value


def plain(value: Any) -> Any:
    """Return a deep copy that JSON can hold; other objects become their ``repr``."""
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return float(value) if np.isfinite(value) else repr(float(value))
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return repr(value)


def unbatched(batch: Mapping[str, Any], place: int) -> dict[str, Any]:
    """Return the observation of one environment from a batch of observations."""
    return {
        name: unbatched(value, place) if isinstance(value, Mapping) else value[place]
        for name, value in batch.items()
    }


def info_of(infos: Mapping[str, Any], place: int) -> dict[str, Any]:
    """Return the info of one environment; Gymnasium batches each key with a mask ``_key``."""
    return {
        key: info_of(value, place) if isinstance(value, Mapping) else value[place]
        for key, value in infos.items()
        if isinstance(mask := infos.get(f"_{key}"), np.ndarray) and mask[place]
    }


def _inside(path: str, value: Any) -> Iterator[tuple[str, Any]]:
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
