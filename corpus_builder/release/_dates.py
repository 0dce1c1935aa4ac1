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
    would be in reach of every survey, whenever it was really published. So is a year where the
    date is unusable, since one of the two is wrong.

    Args:
        date: ``YYYY-MM-DD``, ``YYYY-MM``, ``YYYY``, or None.
        year: of publication, or None; counts where there is no date.
        sink: counts flaws.
        limits: the years that are plausible.
    """
    value = year if date is None else date
    if value is None:
        return None
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
