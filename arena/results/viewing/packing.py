"""The data of a page in compressed blocks, each title and each text once.

An observation or action is kept as a list of parts, from which the page builds its JSON text again:
a text stands for itself; n >= 0 for number n of the kept texts; n < 0 for the quoted id in the kept
text -n - 1, which names a paper.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from arena.papers import MAX_TITLE
from arena.tools import SCORE, encode

DIGITS = 4
"""Digits of a score that the page keeps: all would be most of its size."""
_STRING = r'"(?:[^"\\]|\\.)*"'
_PAPER = rf'"id":({_STRING}),"title":{_STRING},"date":"[^"]*"'
_LISTED = re.compile(_PAPER)
_PIECE = re.compile(rf"({_PAPER})|{_STRING}")
_TEXT = re.compile(_STRING)
_LONG = 200  # characters of a string that is kept apart
_BLOCK = 1 << 16  # characters


def listed(result: str) -> list[str]:
    """Return the ids of the papers that a result, a JSON text, shows with title and date."""
    return [json.loads(found) for found in _LISTED.findall(result)]


class Texts:
    """The titles and long texts of a page, numbered in the order in which they are first used."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._papers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Return the number of a text."""
        return self._numbers.setdefault(text, len(self._numbers))

    def paper(self, paper_id: str, title: str = "", date: str = "") -> int:
        """Return the number of a paper's id, title and date, as lists of papers have them."""
        quoted = encode(paper_id)
        if quoted not in self._papers or title:
            text = encode({"id": paper_id, "title": title[:MAX_TITLE], "date": date})[1:-1]
            self._papers[quoted] = self.number(text)
        return self._papers[quoted]

    def pack(self, text: str, of_agent: bool = False) -> list[str | int]:
        """Return the parts of a JSON text without white space, see the module.

        What looks like a paper in a text of an agent is none: it would rename one for all steps.
        """
        parts: list[str | int] = []
        if not of_agent:
            text = SCORE.sub(lambda found: f"{float(found[0]):.{DIGITS}g}", text)
        kept = 0
        for match in (_TEXT if of_agent else _PIECE).finditer(text):
            paper, quoted = (None, "") if of_agent else match.groups()
            if paper:
                part = self._papers[quoted] = self.number(paper)
            elif match[0] in self._papers:
                part = -self._papers[match[0]] - 1
            elif len(match[0]) > _LONG:
                part = self.number(match[0])
            else:
                continue
            parts += [text[kept : match.start()], part]
            kept = match.end()
        return [part for part in (*parts, text[kept:]) if part != ""]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)


def in_blocks(items: Iterable[Any]) -> list[list[Any]]:
    """Return items in blocks of about 64 KiB."""
    blocks: list[list[Any]] = [[]]
    size = 0
    for item in items:
        if size > _BLOCK:
            blocks.append([])
            size = 0
        blocks[-1].append(item)
        size += len(item) if isinstance(item, str) else len(json.dumps(item))
    return blocks


def block(value: Any) -> str:
    """Return a JSON value compressed, as base64."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")
