"""Which dates and lengths of a record are plausible."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from arena.dates import ResolvedDate, parse_date
from arena.errors import DataError, clip


class Limits(NamedTuple):
    """What is plausible.

    Attributes:
        first_year: of a publication.
        last_year: of a publication.
        characters: of a full text; a longer one is left out.
    """

    first_year: int = 1600
    last_year: int = 2050
    characters: int = 5_000_000


class _Flaws(Protocol):
    def flaw(self, reason: str, detail: str = "") -> None: ...


def resolve(date: object, year: object, sink: _Flaws, limits: Limits) -> ResolvedDate | None:
    """Return the last day that a record's date can mean; None if it tells none.

    ResearchArena, section 3.2: where only a year is known, its 31 December counts. A date out of
    `limits` is a flaw, and the paper counts as undated, hence out of reach: one of the year 1
    would be in reach of every survey, whenever it was really published. So is one where date or
    year alone is unusable. Where they name different years, the later counts, and that is a flaw.

    Args:
        date: ``YYYY-MM-DD``, ``YYYY-MM``, ``YYYY``, or None.
        year: of publication, or None.
        sink: counts flaws.
        limits: the years that are plausible.
    """
    days = []
    for value in (date, year):
        if value is not None:
            found = _one(value, sink, limits)
            if found is None:
                return None
            days.append(found)
    if len(days) == 2 and str(days[0])[:4] != str(days[1])[:4]:
        sink.flaw("date and year disagree", f"{clip(date)}, {clip(year)}")
        return max(days)
    return days[0] if days else None


def coarsen(date: object, january: str) -> object:
    """Return a date without the parts that were made up.

    Where a catalogue knows no day, it writes the first: 11 of the 35 dates in the official sample
    of Semantic Scholar are the first of a month, and OpenAlex' users count 71 times the works of
    2024-01-02 on the day before. So a first day says no more than its month. Read otherwise, a
    paper would be in reach before it existed; read thus, some are in reach a month late.

    Args:
        date: any value; what is no full date is returned as it is.
        january: what 1 January stands for: ``"month"``, or ``"year"`` where the catalogue writes it
            for years.
    """
    if isinstance(date, str) and len(date) == 10 and date.endswith("-01"):
        return date[:4] if january == "year" and date.endswith("-01-01") else date[:7]
    return date


def _one(value: object, sink: _Flaws, limits: Limits) -> ResolvedDate | None:
    """Return the day; None if it is unusable."""
    try:
        found = parse_date(value)
        told = int(str(found)[:4])
    except DataError:
        sink.flaw("date unreadable", clip(value))
        return None
    if not limits.first_year <= told <= limits.last_year:
        sink.flaw("date implausible", clip(value))
        return None
    return found
