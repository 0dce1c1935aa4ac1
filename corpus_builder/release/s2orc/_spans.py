"""Annotations: parts of a text, told by their first and last character."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from arena.errors import clip
from corpus_builder.release._json import read_json
from corpus_builder.release._values import Flaws
from corpus_builder.release.base import RejectError


class Span(NamedTuple):
    """Characters `start` to before `end` of a text."""

    start: int
    end: int


class Faults:
    """What is wrong with the annotations of one record, each kind told once."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, str]] = {}

    def add(self, reason: str, detail: str) -> None:
        """Note one."""
        number, first = self._found.get(reason, (0, detail))
        self._found[reason] = number + 1, first

    def tell(self, sink: Flaws) -> None:
        """Make each kind a flaw of the record."""
        for reason, (number, first) in self._found.items():
            sink.flaw(reason, f"{number} x, first {first}")


class Annotations:
    """All annotations of a text.

    The first version of the dataset spells ``sectionheader``, the second ``section_header``; each
    kind is a list as a JSON string, and null for none.

    Args:
        value: the object with a list for each kind.
        faults: what is wrong.
    """

    def __init__(self, value: object, faults: Faults) -> None:
        self._faults = faults
        if value is not None and not isinstance(value, dict):
            faults.add("annotations unreadable", clip(value))
        known = value if isinstance(value, dict) else {}
        self._kinds = {name.replace("_", ""): listed for name, listed in known.items()}

    def attributes(self, kind: str) -> list[Mapping[str, Any]]:
        """Return the attributes of every annotation of a kind, wherever it lies."""
        return [
            told if isinstance(told := entry.get("attributes"), dict) else {}
            for entry in self._entries(kind)
        ]

    def spans(self, kind: str, length: int) -> list[Span]:
        """Return the annotations of a kind that lie within a text of `length` characters."""
        spans = []
        for entry in self._entries(kind):
            start, end = _offset(entry.get("start")), _offset(entry.get("end"))
            if start is None or end is None:
                self._faults.add("annotation without offsets", f"{kind} {clip(entry, 60)}")
            elif start > end:
                self._faults.add("annotation reversed", f"{kind} {start}-{end}")
            elif end > length:
                self._faults.add("annotation out of range", f"{kind} {start}-{end} of {length}")
            else:
                spans.append(Span(start, end))
        return spans

    def _entries(self, kind: str) -> list[dict[str, Any]]:
        listed = self._kinds.get(kind)
        if isinstance(listed, str):
            try:
                listed = read_json(listed)
            except RejectError as error:
                self._faults.add("annotations unreadable", f"{kind}: {clip(error.detail, 60)}")
                return []
        if listed is None:
            return []
        if not isinstance(listed, list):
            self._faults.add("annotations unreadable", f"{kind}: {clip(listed, 60)}")
            return []
        entries = [entry for entry in listed if isinstance(entry, dict)]
        for entry in listed if len(entries) < len(listed) else ():
            if not isinstance(entry, dict):
                self._faults.add("annotations unreadable", f"{kind}: {clip(entry, 60)}")
        return entries


class Zones:
    """Stretches of a text that hold something else than prose."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        for start, end in sorted(spans):
            if self._ends and start < self._ends[-1]:
                self._ends[-1] = max(self._ends[-1], end)
            else:
                self._starts.append(start)
                self._ends.append(end)

    def __contains__(self, span: Span) -> bool:
        at = bisect.bisect_right(self._starts, span.start) - 1
        return at >= 0 and span.end <= self._ends[at]


def _offset(value: object) -> int | None:
    """Return an offset; early releases write it as a string."""
    if type(value) is int:
        return value if value >= 0 else None
    if type(value) is str and len(value) < 12 and value.isascii() and value.isdigit():
        return int(value)
    return None
