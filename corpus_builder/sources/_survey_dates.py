"""The dates of surveys whose data set gives none."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from arena.dates import format_day, parse_date
from arena.errors import DataError, clip
from corpus_builder.sources._collection import Held
from corpus_builder.sources._json_lines import JsonLinesFile
from corpus_builder.sources._titles import normal_title


class DatesFile:
    """Dates by a survey's id or title, from JSON lines (plain or gzip) or CSV (by its name).

    Raises:
        DataError: if the file is missing or empty; if a record has neither id nor title, or no
            date; or if one id or title has two dates.
    """

    def __init__(self, path: str | Path) -> None:
        self._dates: dict[str, Any] = {}
        path = Path(path)
        for where, record in _csv(path) if path.suffix == ".csv" else _json_lines(path):
            date = record.get("date")
            names = _names(record.get("id"), record.get("title"))
            if not names or date in (None, ""):
                raise DataError(
                    f"{where}: {clip(dict(record))}: give an id or a title, and a date."
                )
            try:
                parse_date(date)
            except DataError as error:
                raise DataError(f"{where}: date: {error}") from None
            for name in names:
                if self._dates.setdefault(name, date) != date:
                    raise DataError(f"{where}: {clip(name)} has two dates. Keep one.")

    def find(self, ids: Iterable[str], title: str) -> Any:
        """Return the date of the survey with one of these ids, or else this title, or None."""
        names = [name for identifier in ids for name in _names(identifier, None)]
        found = (self._dates.get(name) for name in [*names, *_names(None, title)])
        return next((date for date in found if date is not None), None)


def day_after(references: Iterable[Held]) -> str | None:
    """Return the day after the latest dated one of a survey's references, or None."""
    days = [paper.day for paper in references if paper.dated]
    return format_day(max(days) + 1) if days else None


def month_of(arxiv_id: str) -> str | None:
    """Return the month of an arXiv identifier of either form, or None.

    >>> month_of("2010.10563"), month_of("cs/9301111"), month_of("0907")
    ('2020-10', '1993-01', None)
    """
    match = re.match(r"(?:[a-z-]+(?:\.[A-Z]{2})?/(?=\d{7}))?(\d\d)(0[1-9]|1[0-2])(?:\.\d{4}|\d{3})",
                     arxiv_id)  # fmt: skip
    if not match:
        return None
    return f"{19 if match[1] >= '91' else 20}{match[1]}-{match[2]}"


def _names(identifier: object, title: object) -> list[str]:
    names = [f"id:{identifier}"] if isinstance(identifier, str | int) and identifier != "" else []
    key = normal_title(title) if isinstance(title, str) else ""
    return [*names, f"title:{key}"] if key else names


def _json_lines(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for record, file, line in JsonLinesFile(path, "dates"):
        if not isinstance(record, Mapping):
            raise DataError(f"{file} line {line}: {clip(record)} is no JSON object.")
        yield f"{file} line {line}", record


def _csv(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if "date" not in (reader.fieldnames or ()):
                raise DataError(f"{str(path)!r} has no column 'date'. Begin with `id,title,date`.")
            for row in reader:
                yield f"{path.name} line {reader.line_num}", row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{str(path)!r} cannot be read: {reason}. Name a CSV file.") from None
