"""What can be reached from an environment by its public attributes."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Iterator, Mapping, Set, ValuesView
from typing import Any

import numpy as np

from arena.audit._comparing import Say
from arena.audit._facts import Facts

_DEPTH = 50
_MOST = 1_000_000
_LABELS = {"TaskSet", "Gold", "MindMap"}
_CLOSED = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    int,
    float,
    bytes,
    type(None),
    np.number,
    np.bool_,
    np.datetime64,
    np.timedelta64,
)
_BUILT_IN = (dict, list, tuple, set, frozenset)  # a space may be a mapping with attributes


def check_attributes(env: Any, facts: Facts, headings: frozenset[str], say: Say) -> int:
    """Check that no id of a paper, no heading and no object of labels can be reached.

    Public are the attributes and properties whose name has no leading underscore, theirs, and
    what lists, tuples, sets, deques, mappings and NumPy arrays hold; functions are not called.
    What is more than 50 steps away, or comes after a million values, is not looked at, and that
    is a finding.

    Args:
        env: an environment that was reset.
        facts: has the ids. Those of the surveys are no labels: they are what episodes are of.
        headings: of mind-maps.
        say: takes findings.

    Returns:
        How many values were looked at.
    """
    seen: dict[int, Any] = {}  # the values stay, so that no address is used twice
    waiting: list[tuple[str, Any, int]] = [("env", env, 0)]
    while waiting:
        path, value, depth = waiting.pop()
        if len(seen) >= _MOST:
            say("attribute", f"env leads to more than {_MOST:,} values, too many to look at")
            break
        if isinstance(value, str):
            seen[len(seen)] = value
            if (value in facts.by_id and value not in facts.surveys) or value in headings:
                say("attribute", f"{path} is {value!r}")
            continue
        if isinstance(value, _CLOSED) or id(value) in seen:
            continue
        seen[id(value)] = value
        kind = type(value)
        if kind.__name__ in _LABELS and kind.__module__.startswith("arena."):
            say("attribute", f"{path} is a {kind.__name__}, which holds labels")
            continue
        below = [(f"{path}{name}", item, depth + 1) for name, item in _inside(value)]
        if below and depth >= _DEPTH:
            say("attribute", f"{path:.200} ... leads on: more than {_DEPTH} steps are too deep")
        else:
            waiting += below
    return len(seen)


def check_render(env: Any, labels: list[str], result: str, say: Say) -> None:
    """Check that what a person is shown names no label besides those in the observation."""
    rendered = env.render()
    for label in labels:
        if isinstance(rendered, str) and label in rendered and label not in result:
            say("render", f"it shows {label!r}")


def _inside(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, np.ndarray):
        value = value.ravel().tolist()
    elif isinstance(value, np.void):
        value = value.tolist()
    if isinstance(value, Mapping):
        for key, item in list(value.items()):
            yield f"[{key!r:.40}]", item
            yield ".key", key
    elif isinstance(value, list | tuple | Set | ValuesView | deque):
        yield from ((f"[{number}]", item) for number, item in enumerate(list(value)))
    for name in () if type(value) in _BUILT_IN else dir(value):
        if not name.startswith("_"):
            try:
                item = getattr(value, name)
            except Exception:  # a property that cannot be had shows nothing
                continue
            if not isinstance(item, _CLOSED):
                yield f".{name}", item
