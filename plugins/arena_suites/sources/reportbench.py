"""ReportBench: the source named ``reportbench``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from arena.dates import last_version_month
from arena.errors import DataError, clip
from arena.text.identifiers import arxiv_key, bibtex_keys, doi_key
from corpus_builder.records import version_day
from corpus_builder.sources.base import source
from corpus_builder.sources.jsonl import JsonLinesFile
from corpus_builder.sources.matching import PaperQuery
from corpus_builder.sources.published import (
    PublishedSource,
    PublishedSurvey,
    check_record,
    find_one,
)

_WHAT = "ReportBench"
_TRUTH = "_GT"


@source("reportbench")
class ReportBench(PublishedSource):
    """ReportBench: arXiv surveys with prompts and bibliographies, joined to a collection.

    A bibliography entry is looked up by arXiv identifier, by DOI, then by title. The date of a
    survey is that of its first version, while 53 of the 54 prompts of version 1.1 name the month of
    its last one (ReportBench, section 2.1.2), as do those of a selection (``arena-corpus select``),
    which is dated by it. Papers later than the date do not count.

    Args:
        input: Folder with ReportBench_*.jsonl and the folder ReportBench_*_GT.
        last_version: Date a survey by the month of its last version, as its prompt does.
    """

    name: ClassVar[str] = "reportbench"
    example: ClassVar[str] = "--input reportbench --papers papers.jsonl.gz"

    def __init__(self, *args: Any, last_version: bool = False, **options: Any) -> None:
        self._last_version = last_version
        super().__init__(*args, **options)

    def read(self, path: Path) -> Iterator[PublishedSurvey]:
        """Yield the surveys of ``ReportBench_*.jsonl``, each with its file of references."""
        table = JsonLinesFile(find_one(path, "ReportBench_*.jsonl", _WHAT), "surveys")
        folder = (path if path.is_dir() else path.parent) / (
            table.name.removesuffix(".gz").removesuffix(".jsonl") + _TRUTH
        )
        if not folder.is_dir():
            raise DataError(
                f"{str(folder)!r} does not exist: ReportBench has a file of references for every "
                "survey in it. Put it next to the prompts."
            )
        for raw, name, line in table:
            where = f"{name} line {line}"
            keys = {"arxiv_id": str, "title": str, "versions": list, "prompt": str}
            record = check_record(raw, where, keys, _WHAT)
            last = self._last_version or "date" in record  # so a selection has its prompts' cutoff
            day = (last_version_month if last else version_day)(record["versions"])
            if day is None:
                given = clip(record["versions"])
                raise DataError(f"{where}: versions={given}: expected arXiv's, with their days.")
            identity = (arxiv_key(record["arxiv_id"]), doi_key(record.get("doi")))
            yield PublishedSurvey(
                id=f"{self.name}:{record['arxiv_id']}",
                listed_id=record["arxiv_id"],
                itself=PaperQuery(record["title"], tuple(key for key in identity if key)),
                file=name,
                line=line,
                references=list(self._references(folder, record["arxiv_id"])),
                date=day,
                extra={
                    "abstract": record.get("abstract"),
                    "prompt": record["prompt"],
                    "domain": record.get("application_domain"),
                },
            )
        self._hashes[table.name] = table.sha256

    def _references(self, folder: Path, arxiv_id: str) -> Iterator[PaperQuery]:
        file = JsonLinesFile(folder / f"{arxiv_id.replace('/', '_')}.jsonl", "references")
        for raw, name, line in file:
            entry = check_record(raw, f"{name} line {line}", {"bib_id": str}, _WHAT)
            title, more = entry.get("title"), entry.get("meta_info")
            more = more if isinstance(more, Mapping) else {}
            title = title if isinstance(title, str) else ""
            year = re.search(r"\b(?:1[89]|20)\d\d\b", str(more.get("year")))
            yield PaperQuery(title, bibtex_keys(more), int(year[0]) if year else None)
        self._hashes[f"{folder.name}/{file.name}"] = file.sha256
