"""How often a survey's text cites each of its references, where that can be told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from corpus_builder.sources._titles import normal_title

_LABEL = re.compile(r"\[(\d{1,3})\]")
_RANGE = re.compile(r"\[(\d{1,3})\]\s*[-–—]\s*\[(\d{1,3})\]")
_GROUP = re.compile(r"\[(\d{1,3}(?:\s*[,;–—-]\s*\d{1,3})*)\]")
_RELIABLE = 0.9
_LONGEST_RANGE = 50


def count_mentions(
    titles: Sequence[str], bibliography: Sequence[Any], sections: Mapping[str, Any]
) -> list[int] | None:
    """Count the citations of references in a text that cites by numbers in square brackets.

    A number counts for the reference whose title stands in the entry of the article's own list
    that has this number, not for the one at that place in the data set: in one Bloom-Eval article
    (cs_08) the two orders part at 48 of 122.

    Args:
        titles: of the references.
        bibliography: entries of the article's list, such as ``[3] A. Author, "A title", 2020``.
        sections: heading -> text.

    Returns:
        For each title the number of citations; None if fewer than 9 in 10 titles stand in a
        numbered entry, or the text has no such citation.

    >>> count_mentions(["On nets"], ["[1] A. Ames. On Nets."], {"1": "See [1], [1]-[2], (1)."})
    [2]
    """
    numbers = _numbers([normal_title(title) for title in titles], _entries(bibliography))
    if sum(number is not None for number in numbers) < _RELIABLE * max(1, len(titles)):
        return None
    cited = Counter(
        number for text in sections.values() if isinstance(text, str) for number in _cited(text)
    )
    return [0 if number is None else cited[number] for number in numbers] if cited else None


def _entries(bibliography: Sequence[Any]) -> dict[int, str]:
    """Return number -> entry; what was scanned as one entry may be two."""
    found: dict[int, str] = {}
    for scanned in bibliography:
        if isinstance(scanned, str) and _LABEL.match(scanned.strip()):
            _, *parts = _LABEL.split(scanned)
            for number, entry in zip(parts[::2], parts[1::2], strict=True):
                found.setdefault(int(number), normal_title(entry))
    return found


def _numbers(titles: list[str], labels: Mapping[int, str]) -> list[int | None]:
    """Return the number of each title; an entry goes to the longest title that stands in it."""
    best: dict[int, str] = {}
    for number, entry in labels.items():
        best[number] = max((t for t in titles if t and t in entry), key=len, default="")
    by_title: dict[str, int] = {}
    for number, title in best.items():
        by_title.setdefault(title, number)
    return [by_title.get(title) if title else None for title in titles]


def _cited(text: str) -> list[int]:
    """Return the numbers cited, ranges written out."""
    found: list[int] = []
    for first, last in _RANGE.findall(text):
        found += range(int(first), int(last) + 1) if _sane(first, last) else (int(first), int(last))
    for group in _GROUP.findall(_RANGE.sub(" ", text)):
        for part in re.split(r"\s*[,;]\s*", group):
            first, *rest = re.split(r"\s*[–—-]\s*", part)
            last = rest[-1] if rest else first
            found += range(int(first), int(last) + 1) if _sane(first, last) else (int(first),)
    return found


def _sane(first: str, last: str) -> bool:
    return 0 <= int(last) - int(first) < _LONGEST_RANGE
