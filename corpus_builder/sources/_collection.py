"""A collection of papers in which the references of surveys are looked up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from arena.dates import parse_date
from arena.errors import DataError
from corpus_builder.sources._identifiers import paper_keys
from corpus_builder.sources._json_lines import JsonLinesFile
from corpus_builder.sources._titles import normal_title
from corpus_builder.sources.base import Located

_UNDATED = 2**31 - 1


class Sought(NamedTuple):
    """What a survey says of a paper: its title, its identifiers (`_identifiers`), its year."""

    title: str
    keys: tuple[str, ...] = ()
    year: int | None = None


class Held(NamedTuple):
    """A paper of the collection; ordered by day, undated last, then by id."""

    day: int
    id: str
    date: Any

    @property
    def dated(self) -> bool:
        """Whether the date is one."""
        return self.day != _UNDATED


class Match(NamedTuple):
    """The paper that was sought, how it was found, and how many papers it was chosen from."""

    paper: Held
    by: str
    candidates: int


class Collection:
    """Papers in the format of ``jsonl``, read in one pass while they are built in.

    Only what is sought is kept in memory, so it is bounded by the surveys, not by the collection.

    Args:
        path: the file.
        sought: all that will be looked up.
        surveys: the surveys themselves: a paper that has an identifier or the title of one is
            marked as a survey, so that no agent finds it.

    Raises:
        DataError: if there is no such file.
    """

    def __init__(
        self, path: str | Path, sought: Iterable[Sought], surveys: Iterable[Sought]
    ) -> None:
        self._file = JsonLinesFile(path, "papers")
        surveys = list(surveys)
        self._surveys = {key for survey in surveys for key in _names(survey)}
        wanted = self._surveys | {key for reference in sought for key in _names(reference)}
        self._held: dict[str, set[Held]] = {key: set() for key in wanted}
        self._complete = False

    def papers(self) -> Iterator[Located]:
        """Yield every paper."""
        for place in self._file:
            record = place.record
            if isinstance(record, Mapping) and self._note(record) and not record.get("is_survey"):
                place = place._replace(record={**record, "is_survey": True})
            yield place
        self._complete = True

    def find(self, sought: Sought) -> Match | None:
        """Return the paper by identifier, or else by title; None if there is none.

        Of several candidates the earliest is taken, of the same day the one with the smaller id:
        they are versions of one work, which was known from the first one on.
        """
        self._read()
        for by, keys in (("id", sought.keys), ("title", _title(sought))):
            found = {paper for key in keys for paper in self._held[key]}
            if found:
                return Match(min(found), by, len(found))
        return None

    def versions(self, sought: Sought) -> list[Held]:
        """Return all papers that have an identifier or the title sought, the earliest first."""
        self._read()
        return sorted({paper for key in _names(sought) for paper in self._held[key]})

    def describe(self) -> dict[str, str]:
        """Return name and sha256 of the file as it was read."""
        return {"name": self._file.name, "sha256": self._file.sha256}

    def _read(self) -> None:
        if not self._complete:
            for _ in self.papers():
                pass

    def _note(self, record: Mapping[str, Any]) -> bool:
        """Keep a paper that is sought; return whether it is one of the surveys."""
        title, identifier = record.get("title"), record.get("id")
        keys = paper_keys(record)
        if isinstance(title, str):
            keys.update(_title(Sought(title)))
        keys &= self._held.keys()
        if not keys or not isinstance(identifier, str | int):
            return False
        held = Held(_day(record.get("date")), str(identifier), record.get("date"))
        for key in keys:
            self._held[key].add(held)
        return not keys.isdisjoint(self._surveys)


def _names(sought: Sought) -> tuple[str, ...]:
    return *sought.keys, *_title(sought)


def _title(sought: Sought) -> tuple[str, ...]:
    key = normal_title(sought.title)
    return (f"title:{key}",) if key else ()


def _day(date: object) -> int:
    try:
        return _UNDATED if date is None else parse_date(date).day
    except DataError:  # the builder refuses the paper, and says where it stands
        return _UNDATED
