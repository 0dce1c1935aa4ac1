"""Outlines: headings without the title and their numbers, and what each belongs to."""

from __future__ import annotations

import re
from collections.abc import Sequence

from arena.bloom.article import Article, Heading

_FIGURES = r"\d{1,2}(?:\.\d{1,2}){0,5}"
# "3.1", "3.", "2)", "(b)", "A.", "B.2", "IV.", "II-A", "IX", "Appendix B:"; not "3D", "A" or "V".
_NUMBER = re.compile(
    rf"\A\s*(?:(?i:chapter|section|part|appendix)\s+(?:{_FIGURES}|[IVX]{{1,6}}|[A-Z])[:.)]?"
    rf"|\(?(?:{_FIGURES}|[IVX]{{1,6}}|[ivx]{{1,6}}|[A-Za-z])[.):]"
    rf"|{_FIGURES}|[IVX]{{2,6}}|[IVX]{{1,6}}-[A-Z]\d{{0,2}}|[A-Z](?:\.\d{{1,2}}){{1,4}})(?!\S)"
)


def unnumbered(heading: str) -> str:
    """Return a heading without its section number.

    >>> [unnumbered(text) for text in ("3.1 Foo", "IV. Foo", "b) Foo", "II-A Foo", "3D vision")]
    ['Foo', 'Foo', 'Foo', 'Foo', '3D vision']
    """
    return _NUMBER.sub("", heading).strip()


def headings(article: Article) -> list[Heading]:
    """Return the headings without the title and without their numbers; some may be blank."""
    return [Heading(each.level, unnumbered(each.text)) for each in article.outline if each.level]


def parents(outline: Sequence[Heading]) -> list[int]:
    """Return the place of what each heading belongs to, -1 for the title.

    That is the nearest one above with a smaller level, so that an outline may skip levels.

    >>> parents([Heading(2, "a"), Heading(1, "b"), Heading(3, "c"), Heading(2, "d")])
    [-1, -1, 1, 1]
    """
    above: list[int] = []
    found = []
    for place, heading in enumerate(outline):
        while above and outline[above[-1]].level >= heading.level:
            above.pop()
        found.append(above[-1] if above else -1)
        above.append(place)
    return found
