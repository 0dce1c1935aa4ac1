"""The data of a page in compressed blocks, each title and each text once.

An observation or action is kept as a list of parts, from which the page builds its JSON text again:
a text stands for itself; n >= 0 for number n of the kept texts; n < 0 for the quoted id in the kept
text -n - 1, which names a paper; and a list for hits: numbers, decimals, and how much each score,
without its point, is below the one before it.
"""

from __future__ import annotations

import base64
import itertools
import json
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from arena.papers import MAX_TITLE
from arena.tools import encode

DIGITS = 4
"""Digits of the best score of a list that the page keeps: all would be most of its size."""
_STRING = r'"(?:[^"\\]|\\.)*"'
_PAPER = rf'"id":({_STRING}),"title":{_STRING},"date":"[^"]*"'
_LISTED = re.compile(_PAPER)
_HIT = re.compile(rf'\{{({_PAPER})(?:,"score":([-+.0-9e]+))?\}}')
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

    def pack(self, text: str, of_agent: bool = False) -> list[Any]:
        """Return the parts of a JSON text without white space, see the module.

        What looks like a paper in a text of an agent is none: it would rename one for all steps.
        """
        parts: list[Any] = []
        at = 0
        for hit in () if of_agent else _HIT.finditer(text):
            paper, quoted, score = hit.groups()
            if score and float(score) and not 1e-9 < abs(float(score)) < 1e15:
                continue  # four digits of such a score have no integer
            between, at = text[at : hit.start()], hit.end()
            if between != "," or not parts or bool(score) != bool(parts[-1][1]):
                parts += [*self._pieces(between), [[], []]]
            number = self._papers[quoted] = self.number(paper)
            parts[-1][0].append(number)
            if score:
                parts[-1][1].append(float(score))
        parts += self._pieces(text[at:], of_agent)
        return [[part[0], *_rounded(part[1])] if isinstance(part, list) else part for part in parts]

    def _pieces(self, text: str, of_agent: bool = False) -> Iterator[str | int]:
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
            yield from [text[kept : match.start()]] if match.start() > kept else []
            yield part
            kept = match.end()
        yield from [text[kept:]] if kept < len(text) else []

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


def _rounded(scores: Sequence[float]) -> tuple[int, list[int]] | tuple[()]:
    """Return decimals, and the differences of scores, best first, without their point."""
    if not scores:
        return ()
    best = max(map(abs, scores))
    decimals = max(0, DIGITS - math.ceil(math.log10(best))) if best > 0 else 0
    whole = [0, *(round(score * 10**decimals) for score in scores)]
    return decimals, [before - score for before, score in itertools.pairwise(whole)]


def block(value: Any) -> str:
    """Return a JSON value compressed, as base64."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode("ascii"), 9)).decode("ascii")
