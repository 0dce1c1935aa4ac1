"""Single values of a record, as releases write them: ids, titles, counts, names, dates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from arena.dates import ResolvedDate, parse_date
from arena.errors import DataError, clip
from arena.text.cleaning import clean_text
from arena.text.display import replace_surrogates
from corpus_builder.release import UNKNOWN_DAY, RecordLimits, RejectError, Sink

MAX_ID = 256
"""Characters of an id."""
_INT32 = 1 << 31
_INT64 = 1 << 63


def record_of(record: object, *keys: str) -> Mapping[str, Any]:
    """Return a record that has all `keys`, or raise RejectError."""
    if type(record) is not dict:
        raise RejectError("not an object", clip(record))
    for key in keys:
        if key not in record:
            raise RejectError("of another dataset", f"no {key!r}, but {clip(sorted(record)[:8])}")
    return record


def identifier(value: object) -> str | None:
    """Return an id as a string, or None: releases write it as a number or as a string.

    At most 256 printable characters without white space, since TREC files carry no others.
    """
    if type(value) is str:
        if value.isascii() and value.isalnum() and len(value) <= MAX_ID:
            return value
        usable = len(value) <= MAX_ID and value.isprintable() and value.split() == [value]
        return value if usable else None
    return str(value) if type(value) is int and 0 <= value < _INT64 else None


def required_id(value: object) -> str:
    """Return an id, or raise RejectError."""
    id_ = identifier(value)
    if id_ is None:
        raise RejectError("no id", clip(value))
    return id_


def clean(text: str) -> str:
    """Replace NUL and lone surrogates, which no table can contain, one for one by U+FFFD."""
    return replace_surrogates(text.replace("\0", "\ufffd"))


def required_title(value: object) -> str:
    """Return a title on one line, or raise RejectError."""
    title = first_text((value,))
    if title is None or not clean_text(title):
        raise RejectError("no title", clip(value))
    return title


def count_of(value: object, key: str, sink: Sink) -> int | None:
    """Return a count, None if there is none; one that is not from 0 to 2**31 is a flaw."""
    if value is None:
        return None
    if type(value) is str and value.isascii() and value.isdigit() and len(value) < 11:
        value = int(value)
    if type(value) is int and 0 <= value < _INT32:
        return value
    sink.flaw(f"{key} unreadable", clip(value))
    return None


def names_of(values: object, key: str, sink: Sink, *path: str) -> list[str]:
    """Return the distinct names in a list, in their order."""
    if values is None:
        return []
    names: dict[str, None] = {}
    unnamed: list[object] = []
    for value in values if isinstance(values, list) else [values]:
        name: object = value
        for step in path:
            name = name.get(step) if isinstance(name, dict) else None
        if not isinstance(name, str):
            unnamed.append(value)
        elif (text := first_text((name,))) is not None:
            names[text] = None
    if unnamed:
        sink.flaw(f"{key} unreadable", clip(unnamed[:1]))
    return list(names)


def first_text(values: Iterable[object]) -> str | None:
    """Return the first value that is a non-empty text, on one line."""
    for value in values:
        if isinstance(value, str) and (text := " ".join(clean(value).split())):
            return text
    return None


def resolve(date: object, year: object, sink: Sink, limits: RecordLimits) -> ResolvedDate | None:
    """Return the last day that a record's date can mean; None if there is none.

    ResearchArena, section 3.2: where only a year is known, its 31 December counts. A date out of
    `limits` is a flaw, and the paper counts as undated, hence out of reach: one of the year 1
    would be in reach of every survey, whenever it was really published. So is one where date or
    year alone is unusable. Where they name different years, the later counts, and that is a flaw.
    """
    days = []
    for value in (date, year):
        if value is None:
            continue
        try:
            day = parse_date(value)
        except DataError:
            sink.flaw("date unreadable", clip(value))
            return None
        year_named = int(str(day)[:4])
        if not limits.first_year <= year_named <= limits.last_year or str(day) == UNKNOWN_DAY:
            sink.flaw("date implausible", clip(value))
            return None
        days.append(day)
    if len(days) == 2 and str(days[0])[:4] != str(days[1])[:4]:
        sink.flaw("date and year disagree", f"{clip(date)}, {clip(year)}")
        return max(days)
    return days[0] if days else None


def coarsen(date: object, january: str) -> object:
    """Return a date without the day, or month, that the catalogue fills in by default.

    Where a catalogue knows no day, it writes the first: 11 of the 35 dates in the official sample
    of Semantic Scholar are the first of a month, and OpenAlex' users count 71 times the works of
    2024-01-02 on the day before. So a first day says no more than its month. Read otherwise, a
    paper would be in reach before it existed; read thus, some are in reach a month late.

    A 1 `january` means ``"month"``, or ``"year"`` where the catalogue writes it for years. A value
    other than a full date is returned unchanged, and so is the placeholder `UNKNOWN_DAY`.
    """
    if isinstance(date, str) and len(date) == 10 and date.endswith("-01") and date != UNKNOWN_DAY:
        return date[:4] if january == "year" and date.endswith("-01-01") else date[:7]
    return date
