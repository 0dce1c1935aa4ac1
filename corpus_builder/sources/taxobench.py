"""TaxoBench: the source named ``taxobench``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from arena.errors import DataError, clip
from corpus_builder.sources.base import SOURCES
from corpus_builder.sources.jsonl import JsonLinesFile
from corpus_builder.sources.matching import PaperQuery
from corpus_builder.sources.published import (
    PublishedSource,
    PublishedSurvey,
    check_record,
    find_one,
)

_WHAT = "TaxoBench's data.jsonl"


@SOURCES.register("taxobench")
class TaxoBench(PublishedSource):
    """TaxoBench: surveys with the papers of their taxonomy, joined to a collection by title.

    The titles in ``pdfs`` are the references, the tree ``gt`` is the mind-map, with ids in the
    place of titles. Neither has a date (TaxoBench, section 2).
    """

    name: ClassVar[str] = "taxobench"
    example: ClassVar[str] = "--input taxobench/data.jsonl --papers papers.jsonl.gz"
    input_help: ClassVar[str] = "data.jsonl, or the folder that holds it"

    def read(self, path: Path) -> Iterator[PublishedSurvey]:
        """Yield the surveys of ``data.jsonl``."""
        file = JsonLinesFile(find_one(path, "data.jsonl", "TaxoBench"), "surveys")
        for raw, name, line in file:
            where = f"{name} line {line}"
            record = check_record(raw, where, {"survey": str, "pdfs": list, "gt": dict}, _WHAT)
            if not isinstance(record.get("id"), str | int):
                raise DataError(f"{where}: id={clip(record.get('id'))}: this is not {_WHAT}.")
            papers = [check_record(pdf, where, {"title": str}, _WHAT) for pdf in record["pdfs"]]
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
