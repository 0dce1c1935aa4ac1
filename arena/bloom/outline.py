"""Outlines: headings without their numbers, and what each belongs to."""

from __future__ import annotations

import re

from arena.bloom.article import Article

_WORD = r"(?i:chapter|section|part|appendix)\s+"
_FIGURES = r"\d{1,2}(?:\.\d{1,2}){0,5}"
_ROMAN = r"[IVX]{1,6}"
# "3.1", "3.", "2)", "(b)", "A.", "B.2", "IV.", "II-A", "IX", "Appendix B:"; not "3D", "A" or "V".
_NUMBER = re.compile(
    rf"\s*(?:{_WORD}(?:{_FIGURES}|{_ROMAN}|[A-Z])\s*[:.)–—-]?(?=\s|$)"
    rf"|\(?(?:{_FIGURES}|{_ROMAN}|[ivx]{{1,6}}|[A-Za-z])[.):](?=\s|$)"
    rf"|(?:{_FIGURES}|[IVX]{{2,6}}|{_ROMAN}-[A-Z]\d{{0,2}}|[A-Z](?:\.\d{{1,2}}){{1,4}})(?=\s|$))\s*"
)


def unnumbered(heading: str) -> str:
    """Return a heading without its section number.

    >>> [unnumbered(text) for text in ("3.1 Foo", "IV. Foo", "b) Foo", "II-A Foo", "3D vision")]
    ['Foo', 'Foo', 'Foo', 'Foo', '3D vision']
    """
    return _NUMBER.sub("", heading, count=1).strip() if _NUMBER.match(heading) else heading.strip()
