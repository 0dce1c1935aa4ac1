"""Any action as JSON, so that replaying it meets the same answer; docs/trajectories.md."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

_DEEP = 100
"""Levels of nesting in one piece; an error shows 80 characters, so it cannot tell what is below."""

_SHOWN = 600  # characters; a label of a mind-map, which a number may become, has at most 500

_HUGE = 1 << 2000  # Python refuses to print, and to read, integers of thousands of digits
_BETWEEN_HALVES = re.compile("(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")
_NUMPY = (np.bool_, np.integer, np.floating)


def record_action(action: object) -> Any:
    """Return `action` in plain JSON values: itself where it is JSON, escapes where it is not.

    An escape is an object with one key that begins with ``$``. `restore_action` reads it.
    Never raises: what cannot even be looked at is recorded by the name of its type.
    """
    try:
        if isinstance(action, bytes):  # JSON text, at this place alone
            return {"$bytes": bytes(action).decode("latin-1")}
        return _Recorder(action).record()
    except Exception:  # an object whose own methods raise
        return {"$type": type(action).__name__}


class _Recorder:
    def __init__(self, action: object) -> None:
        self._action = action
        self._alive: dict[int, Any] = {}  # ids are good only as long as what they name
        self._contents: dict[int, list[Any]] = {}
        apart = self._find_apart()
        self._numbers = {key: number for number, key in enumerate(apart)}

    def record(self) -> Any:
        root = self._value(self._action)
        if not self._numbers:
            return root
        parts = [self._container(self._alive[key]) for key in self._numbers]
        return {"$parts": [*parts, root]}

    def _find_apart(self) -> list[int]:
        """Return the containers to be written apart, parts before what holds them.

        These are the ones met twice (one may hold itself, and shared ones may stand for more
        values than there are atoms) and the ones nested too deep for a JSON reader.
        """
        apart: set[int] = set()
        done: list[int] = []
        stack: list[tuple[int, int, Iterator[Any]]] = []

        def enter(value: Any, depth: int) -> None:
            if not self._is_container(value):
                return
            key = id(value)
            if key in self._alive:
                apart.add(key)
                return
            self._alive[key] = value
            if depth == _DEEP:
                apart.add(key)
                depth = 0
            stack.append((key, depth, iter(self._contents[key])))

        enter(self._action, 0)
        while stack:
            key, depth, rest = stack[-1]
            for value in rest:
                enter(value, depth + 1)
                if stack[-1][0] != key:
                    break
            else:
                done.append(key)
                stack.pop()
        return [key for key in done if key in apart]

    def _is_container(self, value: Any) -> bool:
        if isinstance(value, Mapping):
            if id(value) not in self._contents:
                self._contents[id(value)] = [part for pair in value.items() for part in pair]
        elif isinstance(value, list | tuple):
            self._contents.setdefault(id(value), list(value))
        else:
            return False
        return bool(self._contents[id(value)])

    def _value(self, value: Any) -> Any:
        if self._is_container(value) and id(value) in self._numbers:
            return {"$part": self._numbers[id(value)]}
        if isinstance(value, Mapping | list | tuple):
            return self._container(value)
        return _scalar(value)

    def _container(self, value: Any) -> Any:
        values = [self._value(part) for part in self._contents[id(value)]]
        if isinstance(value, list):
            return values
        if isinstance(value, tuple):
            return {"$tuple": values}
        pairs = list(zip(values[::2], values[1::2], strict=True))
        if not isinstance(value, dict):
            return {"$mapping": [type(value).__name__, pairs]}
        if all(isinstance(key, str) and not key.startswith("$") for key, _ in pairs):
            recorded: Any = dict(pairs)
        else:
            recorded = {"$dict": pairs}
        return recorded if self._numbers else _with_repr(value, dict(value), recorded)


def _scalar(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, _NUMPY):
        text = str(value)
        same = type(value)(text == "True" if isinstance(value, np.bool_) else text)
        if same == value or value != value:
            return {"$numpy": [type(value).__name__, text]}
    elif isinstance(value, str):
        plain = str.__str__(value)
        pieces = _BETWEEN_HALVES.split(plain)  # JSON would join them
        return _with_repr(value, plain, plain if len(pieces) == 1 else {"$text": pieces})
    elif isinstance(value, int):
        number = int.__int__(value)
        recorded = number if -_HUGE < number < _HUGE else {"$int": hex(number)}
        return recorded if isinstance(recorded, dict) else _with_repr(value, number, recorded)
    elif isinstance(value, float):
        real = float.__float__(value)
        return _with_repr(value, real, real if math.isfinite(real) else {"$float": repr(real)})
    elif type(value) is bytes:
        return {"$bytes": value.decode("latin-1")}
    return {"$type": type(value).__name__}


def _with_repr(value: object, plain: object, recorded: Any) -> Any:
    """Add how a subclass shows itself, which an error may quote and a label may become."""
    if type(value) is type(plain):
        return recorded
    texts = [show(value)[:_SHOWN] for show in (repr, str)]
    same = [show(plain)[:_SHOWN] for show in (repr, str)] == texts
    return recorded if same else {"$shown": [recorded, *texts]}
