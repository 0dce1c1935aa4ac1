"""Dates of papers and cutoffs, resolved so that an imprecise date never reaches into the past.

ResearchArena, section 3.2: a date that names only a year counts as the last day of that year;
by the same rule a month counts as its last day.
"""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Sequence
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any, NamedTuple

from arena.errors import DataError, clip

_EPOCH = dt.date(1970, 1, 1).toordinal()
_PATTERN = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)
_COMPACT = re.compile(r"\A(\d{4})(\d{2})(\d{2})\Z", re.ASCII)

_NAMED = 5

PRECISIONS = ("year", "month", "day")
GUESSED = "guessed"
"""Precision of a date that no source states."""
GUESS_MARK = "†"
"""Mark of results of topics whose date is guessed."""
STAND_IN = "stand-in"
"""Precision of the one day that a protocol without days gives to every paper."""
UNDATED = "undated"
"""Mark of results over such papers, of which no cutoff hides any."""


def last_version_month(versions: Any) -> str | None:
    """Return the first day of the month of the last of arXiv's versions, or None if unreadable.

    It is the cutoff of a survey of ReportBench, in its prompt as in its score: the month of "the
    most recent update of the paper" (section 2.1.2).

    >>> last_version_month([{"version": "v2", "created": "Mon, 18 Jul 2022 06:31:19 GMT"}])
    '2022-07-01'
    """
    try:
        last = parsedate_to_datetime(versions[-1]["created"])
    except (IndexError, KeyError, TypeError, ValueError):
        return None
    return last.date().replace(day=1).isoformat()


class ResolvedDate(NamedTuple):
    """A date resolved to one day.

    Attributes:
        day: days since 1970-01-01 (negative before it).
        precision: ``"year"``, ``"month"`` or ``"day"``: how much the source said; or `GUESSED`,
            or `STAND_IN`.
    """

    day: int
    precision: str

    def __str__(self) -> str:
        return format_day(self.day)


def parse_date(value: object) -> ResolvedDate:
    """Resolve ``YYYY``, ``YYYY-MM`` or ``YYYY-MM-DD`` to a day.

    A `datetime.date` is taken, too, as are a year and ``YYYYMMDD`` as an integer, or this as text.
    A year stands for its 31 December, a month for its last day.

    >>> str(parse_date("2021")), str(parse_date("2020-02")), str(parse_date("20200203"))
    ('2021-12-31', '2020-02-29', '2020-02-03')
    """
    if isinstance(value, dt.date):  # a datetime is a date as well; its time of day is dropped
        return ResolvedDate(value.toordinal() - _EPOCH, "day")
    if type(value) is int and (1000 <= value <= 9999 or 1000_00_00 <= value <= 9999_99_99):
        value = str(value)
    text = _COMPACT.sub(r"\1-\2-\3", value) if isinstance(value, str) else ""
    match = _PATTERN.fullmatch(text)
    if match is None:
        raise DataError(f"{clip(value)} is not a date. Write YYYY, YYYY-MM or YYYY-MM-DD.")
    year, month, day = map(int, match.groups("0"))
    precision = PRECISIONS[(match.lastindex or 1) - 1]
    try:
        if precision == "year":
            month, day = 12, 31
        elif precision == "month":
            day = calendar.monthrange(year, month)[1]
        return ResolvedDate(dt.date(year, month, day).toordinal() - _EPOCH, precision)
    except (ValueError, calendar.IllegalMonthError):
        raise DataError(
            f"{clip(value)} is not a day of the calendar. Write YYYY, YYYY-MM or YYYY-MM-DD."
        ) from None


def parse_cutoff(value: object) -> ResolvedDate:
    """Resolve the cutoff that a person gives: the first day that is out of reach.

    Takes what `parse_date` takes. "Before 2015" excludes 2015: a year stands for its 1 January, a
    month for its first day.

    >>> str(parse_cutoff("2021")), str(parse_cutoff("2020-02")), str(parse_cutoff("2020-02-29"))
    ('2021-01-01', '2020-02-01', '2020-02-29')
    """
    date = parse_date(value)
    said = 4 + 3 * PRECISIONS.index(date.precision)  # characters of YYYY-MM-DD
    return parse_date(str(date)[:said] + "-01-01"[said - 4 :])


@lru_cache(maxsize=1 << 16)
def format_day(day: int) -> str:
    """Return days since 1970-01-01 as ``YYYY-MM-DD``.

    >>> format_day(0)
    '1970-01-01'
    """
    return dt.date.fromordinal(int(day) + _EPOCH).isoformat()


def undated_mark(unit: str) -> str:
    """Return what a title adds if the topics, called by their `TaskSet.unit`, are undated.

    >>> undated_mark("undated question"), undated_mark("question")
    (' (undated)', '')
    """
    return f" ({UNDATED})" if unit.startswith(UNDATED) else ""


def guess_note(topic_ids: Sequence[str]) -> str:
    """Return the footnote to `GUESS_MARK`.

    >>> guess_note(["s1", "s2"])
    '† The dates of 2 topics are guessed: s1, s2. Their true cutoffs may be earlier or later.'
    """
    number = len(topic_ids)
    what = "The date of 1 topic is" if number == 1 else f"The dates of {number} topics are"
    named = ", ".join(topic_ids[:_NAMED]) + ", ..." * (number > _NAMED)
    cutoffs = "Its true cutoff" if number == 1 else "Their true cutoffs"
    return f"{GUESS_MARK} {what} guessed: {named}. {cutoffs} may be earlier or later."
