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


def strings(value: Any) -> Iterator[tuple[str, str]]:
    """Yield (nearest key above, text) for the strings in a value of JSON, as `leaves` does."""
    return ((key, leaf) for key, leaf in leaves(value) if isinstance(leaf, str))


def parsed(text: Any) -> Any:
    """Return the value of JSON in `text`, or None if it is not JSON."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None


def flat(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Yield (the keys and indexes that lead to it, leaf) for a value of JSON."""
    if isinstance(value, dict | list) and value:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from flat(item, (*path, key))
    else:
        yield path, value


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


def plain(value: Any) -> Any:
    """Return a deep copy that JSON can hold; sets are sorted, other objects become their `repr`."""
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
