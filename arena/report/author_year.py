"""Citations by author and year: ``(Smith et al., 2020; Lee, 2021a)``, ``Smith and Lee [2020]``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from arena.report.model import Bibliography, Inline, Mark, Reference

_WORD = r"(?:[^\W\d_a-z][\w’'`-]*(?:- ?\w+)?)"
_PARTICLE = r"(?:(?:van|von|der|den|de|del|della|di|da|dos|la|le|el|al|bin|ter|ten)\s+)"
_NAME = rf"{_PARTICLE}*{_WORD}(?:\s+{_PARTICLE}*{_WORD}){{0,2}}"
_MORE = rf"(?:(?:\s*,\s*|\s*,?\s+(?:and|&)\s+){_NAME}){{0,4}}"
_NAMES = rf"{_NAME}{_MORE}(?:\s*,?\s+et\s+al\b\.?)?(?:['’]s?)?"
_YEAR = r"(?:19|20)\d{2}[a-z]?"
_YEARS = rf"{_YEAR}(?:\s*(?:,|and|&)\s*(?:{_YEAR}|[a-z](?![\w.])))*"
_ONE = re.compile(rf"(?P<names>{_NAMES})\s*[,.]*\s*(?P<years>{_YEARS})(?![\w/-])")
_GROUP = re.compile(r"\(([^()]{6,1500})\)|\[([^\[\]]{6,1500})\]")
_NARRATIVE = re.compile(
    rf"(?P<names>{_NAMES}),?\s*(?:\((?P<round>{_YEARS})\)|\[(?P<square>{_YEARS})\])"
)
_NO_NAME = re.compile(
    r"january|february|march|april|may|june|july|august|september|october|november|december|spring"
    r"|summer|autumn|fall|winter|since|until|in|by|early|late|mid"
)


def marks(text: Inline, bibliography: Bibliography) -> Iterator[Mark]:
    """Yield groups in round or square brackets, and names before a year in brackets.

    A single name that no entry has is none if it is in capitals ("ICLR, 2021") or a month.
    Yields nothing where the report numbers its references.
    """
    if not bibliography.authors:
        return
    for match in _NARRATIVE.finditer(text.bare):
        if found := _references(match["names"], match["round"] or match["square"], bibliography):
            yield Mark(match.start(), match.end(), found, kept=True)
    for group in _GROUP.finditer(text.bare):
        found = tuple(
            reference
            for one in _ONE.finditer(group[0])
            for reference in _references(one["names"], one["years"], bibliography)
        )
        if found:
            rest = _ONE.sub("", group[0][1:-1])
            yield Mark(group.start(), group.end(), found, kept=len(re.findall(r"\w{2,}", rest)) > 3)


def _references(names: str, years: str, bibliography: Bibliography) -> tuple[Reference, ...]:
    several = re.search(r"\bet\s+al\b|\band\b|&", names)
    bare = re.sub(r"\s*,?\s+et\s+al\b\.?|['’]s?$", "", names)
    people = [
        re.sub(r"^.*\s", "", re.sub(r"-\s+", "-", person).strip()).lower()
        for person in re.split(r"\s*,\s*(?:and\s+|&\s*)?|\s+(?:and|&)\s+", bare)
    ]
    found = []
    for year in _each_year(years):
        keys = [" ".join([*people[:2], year]), f"{people[0]} {year}"]
        keys += [f"{people[-1]} {year}"]  # "Besides, Smith et al. (2020)"
        entry = next((key for key in keys if key in bibliography.names), None)
        doubtful = len(people) > 1 or names.isupper() or _NO_NAME.fullmatch(people[0])
        if entry or several or not (doubtful or bibliography.references):
            found.append(bibliography.cited(entry or keys[-1 if " et" in names else 1]))
    return tuple(found)


def _each_year(years: str) -> list[str]:
    """Return ``2020a``, ``2020b`` of ``2020a, b``."""
    found: list[str] = []
    for piece in re.findall(rf"{_YEAR}|\b[a-z]\b", years):
        found.append(piece if piece[0].isdigit() else found[-1][:4] + piece)
    return found
