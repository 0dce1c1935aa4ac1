"""Base of sources that join a published data set to a collection of papers."""

from __future__ import annotations

import csv
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from arena.dates import format_day, parse_date
from arena.errors import DataError, clip
from arena.kit.files import sha256_json
from arena.mindmap import MindMap, read_mind_map
from arena.text.display import count
from arena.text.identifiers import normal_title
from corpus_builder.sources.base import LocatedRecord
from corpus_builder.sources.jsonl import JsonLinesFile
from corpus_builder.sources.matching import (
    Collection,
    JoinCounts,
    PaperQuery,
    identifiers_of,
    join,
)

GUESS = "a guess by the latest reference"
"""Origin of a date that no source states."""

_INFLUENTIAL = 3  # mentions in the text


@dataclass(frozen=True)
class PublishedSurvey:
    """A survey as its data set publishes it, before the join.

    `listed_id` is its id in the data set, for ``--dates``, and `itself` are its title and
    identifiers in the collection. References are as listed, repeats included; `mentions` says of
    each how often the text cites it, None if unknown. The papers of the mind-map, in any form that
    `read_mind_map` reads, are titles. `article` is the text, given for each reference the id of its
    paper or None; `extra` are other keys of the record, such as ``abstract``.
    """

    id: str
    listed_id: str
    itself: PaperQuery
    file: str
    line: int
    references: list[PaperQuery] = field(default_factory=list)
    mentions: list[int] | None = None
    date: Any = None
    mind_map: Any = None
    extra: dict[str, Any] = field(default_factory=dict)
    article: Callable[[Sequence[str | None]], str] | None = None


class PublishedSource(ABC):
    """A data set of surveys whose references are joined to a collection of papers.

    Args:
        input: Folder or file of the data set.
        papers: Collection in which references are looked up: JSON lines in the format of ``jsonl``.
        dates: Dates of surveys, used first: JSON lines or CSV with id or title, and date.
        guess_dates: Date a survey of unknown date on the day after the latest paper that it lists,
            marked as a guess; without this it is left out.
    """

    name: ClassVar[str]
    example: ClassVar[str]

    def __init__(
        self,
        input: str | Path,
        papers: str | Path,
        dates: str | Path | None = None,
        guess_dates: bool = False,
    ) -> None:
        self._guess_dates = guess_dates
        self._dates = None if dates is None else DatesFile(dates)
        self._hashes: dict[str, str] = {}
        self._published = list(self.read(Path(input)))
        self._collection = Collection(
            papers,
            (entry for survey in self._published for entry in survey.references),
            (survey.itself for survey in self._published),
        )
        self._yields = JoinCounts()

    @abstractmethod
    def read(self, path: Path) -> Iterator[PublishedSurvey]:
        """Yield the surveys of the data set at `path`; put sha256s of files into ``_hashes``."""

    def papers(self) -> Iterator[LocatedRecord]:
        """Yield the papers of the collection; versions of the surveys are marked as surveys."""
        return self._collection.papers()

    def surveys(self) -> Iterator[LocatedRecord]:
        """Yield the surveys that have a date, with the references that the collection contains.

        A record also has ``prompt``, ``outline``, ``article`` and the ``abstract``, which the
        builder does not read, where the data set has them.
        """
        self._yields = JoinCounts()
        for survey in self._published:
            places, joined = join(survey.references, self._collection)
            counts = self._yields.surveys[survey.id] = dict[str, Any](joined)
            counts["in_collection"] = len(self._collection.versions(survey.itself))
            date, counts["date_from"] = self._date(survey)
            if date is None:
                self._yields.left_out.append(survey.id)
                continue
            record = self._record(survey, places, date)
            record["n_references_total"] = counts["listed"] - counts["repeated"]
            if counts["date_from"] == GUESS:
                record["date_guessed"] = True
            yield LocatedRecord(record, survey.file, survey.line)
        if len(self._yields.surveys) == len(self._yields.left_out):
            raise DataError(
                f"none of the {len(self._published)} surveys has a date. Give a file of their "
                "dates with --dates, or a collection that they stand in; --guess-dates dates them "
                "by what they list, and marks it as a guess."
            )

    def describe(self) -> dict[str, Any]:
        """Return the files as they were read, and the counts of the join."""
        return {
            "source": self.name,
            "files": {
                "papers": self._collection.describe(),
                "surveys": {"files": len(self._hashes), "sha256": sha256_json(self._hashes)},
            },
            "yield": self._yields.to_json(),
        }

    def date_of(self, survey: PublishedSurvey) -> tuple[Any, str]:
        """Return the date in the data set, and its origin."""
        return survey.date, self.name

    def _date(self, survey: PublishedSurvey) -> tuple[Any, str | None]:
        if self._dates and (date := self._dates.find((survey.id, survey.listed_id),
                                                     survey.itself.title)):  # fmt: skip
            return date, "dates file"
        own, whence = self.date_of(survey)
        if own is not None:
            return own, whence
        for version in self._collection.versions(survey.itself):
            if version.dated:
                return version.date, "collection"
        matches = map(self._collection.find, survey.references) if self._guess_dates else ()
        days = [match.paper.day for match in matches if match and match.paper.dated]
        return (format_day(max(days) + 1), GUESS) if days else (None, None)

    def _record(
        self, survey: PublishedSurvey, places: list[str | None], date: Any
    ) -> dict[str, Any]:
        cited = dict.fromkeys((place for place in places if place is not None), 0)
        record = {
            "id": survey.id,
            "title": survey.itself.title,
            "date": date,
            **dict(zip(("arxiv_id", "doi"), identifiers_of(survey.itself.keys), strict=True)),
            "references": list(cited),
            **survey.extra,
            "listed_titles": [entry.title for entry in survey.references],
        }
        if record.get("survey_citations") is None:
            versions = self._collection.versions(survey.itself)
            times = (self._collection.citations[version.id] for version in versions)
            record["survey_citations"] = next(times, None)
        if survey.mentions is not None:
            for place, mentions in zip(places, survey.mentions, strict=True):
                if place is not None:
                    cited[place] += mentions
            record["influential"] = [paper for paper, n in cited.items() if n >= _INFLUENTIAL]
        if survey.article is not None:
            record["article"] = survey.article(places)
        if survey.mind_map is not None:
            record["mind_map"] = None
            pairs = zip(survey.references, places, strict=True)
            ids = {entry.title: paper for entry, paper in pairs if paper}
            try:
                record["mind_map"] = _with_ids(read_mind_map(survey.mind_map)[0], ids).to_json()
            except DataError:
                self._yields.unusable.append(survey.id)
        return record


def _with_ids(tree: MindMap, ids: Mapping[str, str]) -> MindMap:
    """Replace titles by ids; leave out papers that the collection lacks."""
    papers = dict.fromkeys(ids[title] for title in tree.papers if title in ids)
    # A map has at most 64 levels, so this does not run out of stack.
    children = tuple(_with_ids(child, ids) for child in tree.children)
    return MindMap(tree.label, children, tuple(papers))


class DatesFile:
    """Dates by a survey's id or title, from JSON lines (plain or gzip) or CSV (by its name)."""

    def __init__(self, path: str | Path) -> None:
        self._dates: dict[str, Any] = {}
        path = Path(path)
        lines = JsonLinesFile(path, "dates") if path.suffix != ".csv" else _csv(path)
        for record, file, line in lines:
            where = f"{file} line {line}"
            if not isinstance(record, Mapping):
                raise DataError(f"{where}: {clip(record)} is not a JSON object.")
            date, names = record.get("date"), _names(record.get("id"), record.get("title"))
            if not names or date in (None, ""):
                given = clip(dict(record))
                raise DataError(f"{where}: {given}: give an id or a title, and a date.")
            try:
                parse_date(date)
            except DataError as error:
                raise DataError(f"{where}: date: {error}") from None
            for name in names:
                if self._dates.setdefault(name, date) != date:
                    raise DataError(f"{where}: {clip(name)} has two dates. Keep one.")

    def find(self, ids: Iterable[str], title: str) -> Any:
        """Return the date of the survey with one of these ids, or else this title, or None."""
        names = [*(name for identifier in ids for name in _names(identifier)), *_names(None, title)]
        return next((self._dates[name] for name in names if name in self._dates), None)


def _names(identifier: object, title: object = None) -> list[str]:
    names = [f"id:{identifier}"] if isinstance(identifier, str | int) and identifier != "" else []
    key = normal_title(title) if isinstance(title, str) else ""
    return [*names, f"title:{key}"] if key else names


def _csv(path: Path) -> Iterator[LocatedRecord]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            if "date" not in (reader.fieldnames or ()):
                raise DataError(f"{str(path)!r} has no column 'date'. Begin with `id,title,date`.")
            for row in reader:
                yield LocatedRecord(row, path.name, reader.line_num)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(
            f"{str(path)!r} cannot be read: {reason}. Name a CSV file, saved as UTF-8."
        ) from None


def find_one(path: Path, pattern: str, data_set: str) -> Path:
    """Return `path` if it is a file, or else the only file in it that matches a pattern."""
    if not path.exists():
        raise DataError(f"{str(path)!r} does not exist. Name {data_set}, which has {pattern}.")
    paths = sorted(path.glob(pattern)) if path.is_dir() else [path]
    if len(paths) != 1:
        what = count(len(paths), "file") if paths else "no"
        raise DataError(f"{str(path)!r} contains {what} {pattern}. Name {data_set}, which has one.")
    return paths[0]


def read_json(path: Path, hashes: dict[str, str], name: str) -> Any:
    """Read a JSON file, and put its sha256 into `hashes` under `name`."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be read: {error.strerror}.") from None
    hashes[name] = hashlib.sha256(data).hexdigest()
    try:
        return json.loads(data.removeprefix(b"\xef\xbb\xbf"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{str(path)!r} is not JSON ({clip(str(error))}). Get it again.") from None


def check_record(record: object, where: str, keys: Mapping[str, type], data_set: str) -> Any:
    """Return `record` if it is an object that has these keys with values of these types."""
    if not isinstance(record, Mapping):
        raise DataError(f"{where}: {clip(record)} is not a JSON object: this is not {data_set}.")
    for key, kind in keys.items():
        if not isinstance(record.get(key), kind):
            value = clip(record[key], 60) if key in record else "missing"
            raise DataError(f"{where}: {key!r} is {value}: this is not {data_set}.")
    return record
