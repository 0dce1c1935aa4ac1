"""What the code released with Bloom-Eval counts, for `Tools.official`.

Written from descriptions of that code. Numbers in square brackets count as it counts them; names
with years follow one plain rule, which need not be its rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from arena.bloom.article import Article

Id = tuple[str, int] | tuple[str, tuple[str, str]]

_WIDEST = 100
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+)$", re.MULTILINE)
_PARTS = ("abstract", "introduction", "conclusion", "references|bibliography")
_NUMBERS = re.compile(r"\[(\d+(?:\s*[-–—,;]\s*\d+)*)\]")
_YEAR = r"(?P<year>(?:19|20)\d{2})[a-z]?"
_NAME = r"[A-Z][\w'’-]+"
_MORE = rf"\s+et\s+al\b\.?,?|\s+(?:and|&)\s+{_NAME},?"
_GROUP = re.compile(r"\([^()]*\d{4}[^()]*\)")
_INSIDE = re.compile(rf"(?P<name>{_NAME})(?:{_MORE}|,)\s*{_YEAR}")
_BEFORE = re.compile(rf"(?P<name>{_NAME})(?:{_MORE})?\s*\({_YEAR}\)")


def formatting(article: Article) -> tuple[set[Id], set[Id]]:
    """Return the ids that a text cites and those that its references define.

    An id is ``("num", n)`` or ``("ay", (author, year))``: in a text ``(Smith et al., 2020)`` or
    ``Smith (2020)``, of a reference the last word of its first author's name. Ranges are at most
    100 wide; of the references only the kinds of id count that the text cites.
    """
    cited: set[Id] = {("num", number) for number in _numbers(article.text)}
    groups = " ".join(_GROUP.findall(article.text))
    named = (*_INSIDE.finditer(groups), *_BEFORE.finditer(article.text))
    cited |= {("ay", (match["name"].lower(), match["year"])) for match in named}
    defined: set[Id] = set()
    kinds = {kind for kind, _ in cited}
    for place, work in enumerate(article.works, 1):
        if "num" in kinds:
            defined.add(("num", place))
        if "ay" in kinds and work.authors and work.year:
            defined.add(("ay", (work.authors[0].split()[-1].lower(), str(work.year))))
    return cited, defined


def _numbers(text: str) -> Iterator[int]:
    for group in _NUMBERS.finditer(text):
        for piece in re.split(r"\s*[,;]\s*", group[1]):
            first, *_, last = [int(end) for end in re.findall(r"\d+", piece)] * 2
            yield from range(first, last + 1) if 0 <= last - first <= _WIDEST else ()


def structure(text: str) -> dict[str, str]:
    """Return the heading of each part of a Markdown text that contains its name; empty if none."""
    headings = [heading.strip() for heading in _HEADING.findall(text)]
    return {
        part: next((each for each in headings if re.search(part, each.lower())), "")
        for part in _PARTS
    }
