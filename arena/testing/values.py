"""Values of JSON: their leaves, and where two of them differ."""

from __future__ import annotations

import json
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
    text = json.dumps(value, default=_other)
    return json.loads(text, parse_constant=lambda name: repr(float(name)))  # NaN equals no NaN


def _other(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Mapping):
        return dict(value)
    return sorted(value, key=repr) if isinstance(value, Set) else repr(value)
