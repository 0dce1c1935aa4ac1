"""What the sources share that join a published data set to a collection of papers."""

from __future__ import annotations

import argparse
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from arena._internal.files import sha256_json
from arena.errors import DataError
from arena.mindmap import MindMap, read_mind_map
from corpus_builder.sources._collection import Collection, Sought
from corpus_builder.sources._joins import Joined, join
from corpus_builder.sources._survey_dates import DatesFile, day_after
from corpus_builder.sources._yields import Yields
from corpus_builder.sources.base import Located, Source


@dataclass(frozen=True)
class Published:
    """A survey as its data set publishes it, before the join.

    Attributes:
        id: in the corpus that is built.
        listed_id: in the data set, for ``--dates``.
        itself: what the survey is found by in the collection.
        references: as listed, repeats included.
        mentions: for each reference how often the text cites it; None if that is not known.
        date: of the data set, or None.
        mind_map: in any form that `read_mind_map` takes; its papers are titles.
        extra: what the record carries besides: ``abstract``, ``prompt``, ``outline``, ...
    """

    id: str
    listed_id: str
    itself: Sought
    file: str
    line: int
    references: list[Sought] = field(default_factory=list)
    mentions: list[int] | None = None
    date: Any = None
    mind_map: Any = None
    extra: dict[str, Any] = field(default_factory=dict)


class PublishedSource(ABC):
    """A data set of surveys whose references are joined to a collection of papers.

    Args:
        input: the data set, a folder or a file.
        papers: the collection, in the format of ``jsonl``.
        dates: dates of surveys, which go before all others; see `DatesFile`.

    Raises:
        DataError: if anything of the data set is missing or cannot be read; the collection is
            read later.
    """

    name: ClassVar[str]
    example: ClassVar[str]
    input_help: ClassVar[str]
    influential_mentions: ClassVar[int] = 3

    def __init__(
        self, input: str | Path, papers: str | Path, dates: str | Path | None = None
    ) -> None:
        self._dates = None if dates is None else DatesFile(dates)
        self._hashes: dict[str, str] = {}
        self._published = list(self.read(Path(input)))
        self._collection = Collection(
            papers,
            (entry for survey in self._published for entry in survey.references),
            (survey.itself for survey in self._published),
        )
        self._yields = Yields()

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add ``--input``, ``--papers`` and ``--dates``."""
        parser.add_argument("--input", required=True, metavar="PATH", help=cls.input_help)
        parser.add_argument(
            "--papers", required=True, metavar="FILE",
            help="collection that the references are looked up in: JSON lines as of jsonl",
        )  # fmt: skip
        parser.add_argument(
            "--dates", metavar="FILE",
            help="dates of surveys, which go first: JSON lines or CSV with id or title, and date",
        )  # fmt: skip

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Source:
        """Make the source from the parsed options."""
        return cls(arguments.input, arguments.papers, arguments.dates)

    @abstractmethod
    def read(self, path: Path) -> Iterator[Published]:
        """Yield the surveys of the data set at `path`; put sha256s of files into ``_hashes``."""

    def papers(self) -> Iterator[Located]:
        """Yield the papers of the collection; versions of the surveys are marked as surveys."""
        return self._collection.papers()

    def surveys(self) -> Iterator[Located]:
        """Yield the surveys that have a date, with the references that were found.

        A record also has what the builder does not read: ``abstract``, ``prompt``, ``outline``,
        where the data set has them.

        Raises:
            DataError: if no survey has a date.
        """
        self._yields = Yields()
        for survey in self._published:
            joined = join(survey.references, self._collection)
            counts = self._yields.add(survey.id, joined.counts)
            counts["in_collection"] = len(self._collection.versions(survey.itself))
            date, counts["date_from"] = self._date(survey)
            if date is None:
                self._yields.leave_out(survey.id)
                continue
            yield Located(self._record(survey, joined, date), survey.file, survey.line)
        if len(self._yields) == self._yields.n_left_out:
            raise DataError(
                f"none of the {len(self._published)} surveys has a date. Give a file of their "
                "dates with --dates, or a collection that they stand in."
            )

    def describe(self) -> dict[str, Any]:
        """Return the files as they were read, and the yield of the join."""
        return {
            "source": self.name,
            "files": {
                "papers": self._collection.describe(),
                "surveys": {"files": len(self._hashes), "sha256": sha256_json(self._hashes)},
            },
            "yield": self._yields.to_json(),
        }

    def date_of(self, survey: Published) -> tuple[Any, str]:
        """Return the date that the data set itself gives, and what it is taken from."""
        return survey.date, self.name

    def _date(self, survey: Published) -> tuple[Any, str | None]:
        if self._dates and (date := self._dates.find((survey.id, survey.listed_id),
                                                     survey.itself.title)):  # fmt: skip
            return date, "dates file"
        own, whence = self.date_of(survey)
        if own is not None:
            return own, whence
        for version in self._collection.versions(survey.itself):
            if version.dated:
                return version.date, "collection"
        matches = (self._collection.find(entry) for entry in survey.references)
        late = day_after(match.paper for match in matches if match)
        return late, None if late is None else "latest reference"

    def _record(self, survey: Published, joined: Joined, date: Any) -> dict[str, Any]:
        record = {
            "id": survey.id,
            "title": survey.itself.title,
            "date": date,
            "references": joined.ids,
            "n_references_total": joined.distinct,
            **survey.extra,
        }
        if survey.mentions is not None:
            cited = dict.fromkeys(joined.ids, 0)
            for place, mentions in zip(joined.places, survey.mentions, strict=True):
                if place is not None:
                    cited[place] += mentions
            record["influential"] = [
                paper for paper, n in cited.items() if n >= self.influential_mentions
            ]
        if survey.mind_map is not None:
            record["mind_map"] = self._map(survey, joined)
        return record

    def _map(self, survey: Published, joined: Joined) -> dict[str, Any] | None:
        try:
            tree, _ = read_mind_map(survey.mind_map)
        except DataError:
            self._yields.unusable_map(survey.id)
            return None
        ids = {entry.title: place for entry, place in zip(survey.references, joined.places,
                                                          strict=True) if place}  # fmt: skip
        return _with_ids(tree, ids).to_json()


def _with_ids(tree: MindMap, ids: Mapping[str, str]) -> MindMap:
    """Put ids in the place of titles; a paper that was not found is left out."""
    papers = dict.fromkeys(ids[title] for title in tree.papers if title in ids)
    # A map has at most 64 levels, so this does not run out of stack.
    children = tuple(_with_ids(child, ids) for child in tree.children)
    return MindMap(tree.label, children, tuple(papers))
