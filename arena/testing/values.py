"""Values of JSON: their leaves, and where two of them differ."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Set
from typing import Any

import numpy as np


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


def strings(value: Any) -> list[str]:
    """Return the strings in a value of JSON, as `leaves` does."""
    return [leaf for _, leaf in leaves(value) if isinstance(leaf, str)]


def parsed(text: Any) -> Any:
    """Return the value of JSON in `text`, or None if it is not JSON."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None


def first_difference(one: Any, other: Any, place: str = "value") -> str | None:
    """Return where and how two plain values first differ, or None."""
    if type(one) is not type(other):
        return f"{place} is {one!r:.60} and then {other!r:.60}"
    if isinstance(one, dict | list):
        first, second = (v if isinstance(v, dict) else dict(enumerate(v)) for v in (one, other))
        for key in first | second:
            where = f"{place}.{key}" if isinstance(one, dict) else f"{place}[{key}]"
            if key not in first or key not in second:
                return f"{where} is there only the {'first' if key in first else 'second'} time"
            if found := first_difference(first[key], second[key], where):
                return found
        return None
    if one == other:
        return None
    if isinstance(one, str):
        at = next(n for n in range(len(one) + 1) if one[n : n + 1] != other[n : n + 1])
        one, other = (text[max(0, at - 20) : at + 30] for text in (one, other))
        place += f" at character {at}"
    return f"{place} is {one!r:.60} and then {other!r:.60}"


def plain(value: Any) -> Any:
    """Return a deep copy in values of JSON; sets are sorted, other objects become their `repr`."""
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return float(value) if np.isfinite(value) else repr(float(value))
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | deque):
        return [plain(item) for item in value]
    if isinstance(value, Set):
        return sorted(map(plain, value), key=repr)
    return repr(value)
