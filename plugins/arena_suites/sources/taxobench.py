"""TaxoBench: the source named ``taxobench``."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from arena.dates import format_day, parse_date
from arena.errors import DataError, clip
from arena.text.identifiers import normal_title
from corpus_builder.sources.base import LocatedRecord, source
from corpus_builder.sources.jsonl import JsonLinesFile
from corpus_builder.sources.matching import PaperQuery
from corpus_builder.sources.published import (
    PublishedSource,
    PublishedSurvey,
    check_record,
    find_one,
)

_WHAT = "TaxoBench's data.jsonl"


@source("taxobench")
class TaxoBench(PublishedSource):
    """TaxoBench: surveys with the papers of their taxonomy, joined to a collection by title.

    The titles in ``pdfs`` are the references, the tree ``gt`` is the mind-map, with ids in the
    place of titles. Neither has a date (TaxoBench, section 2).

    Args:
        input: data.jsonl, or the folder that contains it.
        listed_papers: Add the listed papers that the collection lacks, with their abstracts, and
            date the undated ones on the day before the first survey that lists them, marked as a
            guess. For the Bottom-Up mode.
    """

    name: ClassVar[str] = "taxobench"
    example: ClassVar[str] = "--input taxobench/data.jsonl --papers papers.jsonl.gz"

    def __init__(self, *args: Any, listed_papers: bool = False, **options: Any) -> None:
        self._abstracts: dict[str, Any] = {}
        self._listed_papers = listed_papers
        super().__init__(*args, **options)

    def read(self, path: Path) -> Iterator[PublishedSurvey]:
        """Yield the surveys of ``data.jsonl``."""
        file = JsonLinesFile(find_one(path, "data.jsonl", "TaxoBench"), "surveys")
        for raw, name, line in file:
            where = f"{name} line {line}"
            record = check_record(raw, where, {"survey": str, "pdfs": list, "gt": dict}, _WHAT)
            if not isinstance(record.get("id"), str | int):
                raise DataError(f"{where}: id={clip(record.get('id'))}: this is not {_WHAT}.")
            papers = [check_record(pdf, where, {"title": str}, _WHAT) for pdf in record["pdfs"]]
            for paper in papers:
                self._abstracts.setdefault(normal_title(paper["title"]), paper.get("abs"))
            yield PublishedSurvey(
                id=f"{self.name}:{record['id']}",
                listed_id=str(record["id"]),
                itself=PaperQuery(record["survey"]),
                file=name,
                line=line,
                references=[PaperQuery(paper["title"]) for paper in papers],
                mind_map=record["gt"],
            )
        self._hashes[file.name] = file.sha256

    def papers(self) -> Iterator[LocatedRecord]:
        """Yield the papers of the collection, completed with `listed_papers`."""
        dated, added = self._completion if self._listed_papers else ({}, [])
        for place in super().papers():
            paper_id = place.record.get("id") if isinstance(place.record, Mapping) else None
            if (date := dated.get(str(paper_id))) is not None:
                place = place._replace(record={**place.record, "date": date, "date_guessed": True})
            yield place
        yield from added

    def surveys(self) -> Iterator[LocatedRecord]:
        """Yield the surveys that have a date, with the references that the corpus contains."""
        if self._listed_papers:
            _ = self._completion  # the join finds the papers that it adds
        yield from super().surveys()

    def describe(self) -> dict[str, Any]:
        """Return the files as they were read, and the counts of the join."""
        if not self._listed_papers:
            return super().describe()
        dated, added = self._completion
        return super().describe() | {"listed_papers": {"dated": len(dated), "added": len(added)}}

    @cached_property
    def _completion(self) -> tuple[dict[str, str], list[LocatedRecord]]:
        """Dates of undated papers of the collection, by id, and the papers that it lacks.

        A survey cites what exists, so the day before the first one that lists a paper is the last
        day on which the paper can have appeared: an earlier cutoff must not reach it.
        """
        dates = ((self._date(survey)[0], survey) for survey in self._published)
        days = ((parse_date(date).day, survey) for date, survey in dates if date is not None)
        dated: dict[str, str] = {}
        added: list[LocatedRecord] = []
        for day, survey in sorted(days, key=lambda pair: (pair[0], pair[1].id)):
            before = format_day(day - 1)
            for query in survey.references:
                match = self._collection.find(query)
                if match is not None:
                    if not match.paper.dated:
                        dated.setdefault(match.paper.id, before)
                elif key := normal_title(query.title):
                    record = {
                        "id": f"{self.name}:{hashlib.sha256(key.encode()).hexdigest()[:12]}",
                        "title": query.title,
                        "abstract": self._abstracts[key],
                        "date": before,
                        "date_guessed": True,
                    }
                    self._collection.add(record)
                    added.append(LocatedRecord(record, survey.file, survey.line))
        return dated, added
