"""JSON as models write it."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NamedTuple

from arena.llm._request import clean

DEEPEST = 100
_RESTARTS = 8
# A string need not end: one that must would be looked for again from each quote within it.
_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
_OPENING = re.compile(r"[\[{]")
_TOKEN = re.compile(
    r"""(?P<text>"[^"\\]*(?:\\.[^"\\]*)*"?|'[^'\\]*(?:\\.[^'\\]*)*'?)
    |(?P<mark>[\[\]{},:])|(?P<comment>//[^\n]*)|(?P<bare>[^\s\[\]{},:"']+)""",
    re.DOTALL | re.VERBOSE,
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_NAMES = {"true": True, "false": False, "null": None, "none": None, "nan": None, "undefined": None}
_MISSING: Any = object()


class Region(NamedTuple):
    """A stretch of text between brackets that belong together, or to the end of the text."""

    start: int
    end: int


def regions(text: str) -> list[Region]:
    """Return the outermost stretches that may be JSON; too deep ones are left out.

    A bracket that is never closed may be prose; then the search begins again behind it, a few
    times, so that the time stays linear.
    """
    found: list[Region] = []
    at = restarts = 0
    while opening := _OPENING.search(text, at):
        start = opening.start()
        depth = deepest = end = 0
        for match in _STRUCTURE.finditer(text, start):
            if match[0] in "[{":
                depth += 1
                deepest = max(deepest, depth)
            elif match[0] in "]}":
                depth -= 1
                if not depth:
                    end = match.end()
                    break
        deep = deepest > DEEPEST
        if not deep:
            found.append(Region(start, end or len(text)))
        restarts += not end
        if restarts == _RESTARTS or (deep and not end):
            break
        at = end or start + 1
    return found


def strictly(text: str) -> Any:
    """Return the object or list that JSON reads, or None."""
    try:
        value = json.loads(text, parse_constant=lambda name: None, parse_float=_finite)
    except (ValueError, RecursionError):
        return None
    return clean(value) if isinstance(value, dict | list) else None


class _Frame:
    """An object or list that is being read."""

    def __init__(self, opening: str) -> None:
        self.value: Any = [] if opening == "[" else {}
        self.key: Any = _MISSING
        self.item: Any = _MISSING
        self.words: list[str] = []  # without quotes, that follow each other: one item

    def take(self, item: Any) -> None:
        """Take what ends what was taken before."""
        if self.item is not _MISSING or self.words:
            self.end()
        self.item = item

    def take_word(self, word: str) -> None:
        """Take a word without quotes; those that follow each other are one item."""
        if self.item is not _MISSING:
            self.end()
        self.words.append(word)

    def colon(self) -> None:
        """Make a key of the last item."""
        item = " ".join(self.words) if self.words else self.item
        if (
            isinstance(self.value, dict)
            and self.key is _MISSING
            and item is not _MISSING
            and not isinstance(item, dict | list)
        ):
            self.key, self.item, self.words = _name(item), _MISSING, []
        elif self.words:  # a colon in words without quotes
            self.words.append(":")

    def end(self) -> None:
        """Close the last item; an object's item without a key is a key without a value.

        But not an object or a list: written as a name it would double with each level.
        """
        words = " ".join(self.words).replace(" :", ":")
        item = _word(words) if self.words else self.item
        if isinstance(self.value, list):
            if item is not _MISSING:
                self.value.append(item)
        elif self.key is not _MISSING:
            self.value[self.key] = None if item is _MISSING else item
        elif isinstance(item, dict):  # {{"a": 1}}, as a template with doubled braces has it
            self.value |= item
        elif item is not _MISSING and not isinstance(item, list):
            self.value[_name(words or item)] = None
        self.key = self.item = _MISSING
        self.words = []


def read_loosely(text: str) -> Any:
    """Return the object or list that a text from `regions` was meant to be, or None if empty."""
    stack: list[_Frame] = []
    top: Any = None
    for match in _TOKEN.finditer(text):
        mark = match["mark"]
        if mark in ("[", "{"):
            if len(stack) >= DEEPEST:
                return None
            stack.append(_Frame(mark))
        elif not stack:
            break
        elif mark in ("]", "}"):
            top = _close(stack)
        elif mark == ",":
            stack[-1].end()
        elif mark == ":":
            stack[-1].colon()
        elif match["text"]:
            stack[-1].take(_unquoted(match["text"]))
        elif match["bare"]:
            stack[-1].take_word(match["bare"])
    while stack:
        top = _close(stack)
    return clean(top) if top else None


def _close(stack: list[_Frame]) -> Any:
    frame = stack.pop()
    frame.end()
    if stack:
        stack[-1].take(frame.value)
    return frame.value


def _unquoted(text: str) -> str:
    inner = text[1:-1] if len(text) > 1 and text[-1] == text[0] else text[1:]
    return _ESCAPE.sub(_escaped, inner)


def _escaped(match: re.Match[str]) -> str:
    code = match[1]
    return chr(int(code[1:], 16)) if len(code) == 5 else _ESCAPES.get(code, code)


def _word(item: Any) -> Any:
    """Return the value of a word without quotes."""
    if not isinstance(item, str):
        return item
    if item.lower() in _NAMES:
        return _NAMES[item.lower()]
    if len(item) <= 40 and re.fullmatch(r"-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?", item):
        return int(item) if item.lstrip("-").isdigit() else _finite(item)
    return item


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def _name(item: Any) -> str:
    return item if isinstance(item, str) else json.dumps(item)
