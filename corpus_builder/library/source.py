"""The source ``library``: papers as people have them, several files and formats at once."""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from arena.corpus.store import hash_id
from arena.dates import parse_date
from arena.errors import DataError, clip
from arena.text.identifiers import normal_title
from corpus_builder.library.joining import Joiner, dumped
from corpus_builder.readers.base import ENTRY_DATE, ENTRY_YEARS, PaperFile
from corpus_builder.records import parse_survey, publication_date
from corpus_builder.sources.base import LocatedRecord, source
from corpus_builder.sources.jsonl import JsonLinesFile

KEPT = "library/papers.jsonl.gz"
_TASKS = "library/surveys.jsonl"


@source("library")
class Library:
    """Your own papers: BibTeX, RIS, CSV, JSON of OpenAlex and arXiv, joined.

    Args:
        papers: Files of papers, recognised by their content.
        gold (FILE=TITLE@DAY): Files of what surveys of yours cite, each with title and day of its
            survey, which becomes a task: related.bib="A Survey of Reefs@2021-05-02".
        add: A corpus of this source whose papers and tasks are taken, too.
    """

    example: ClassVar[str] = "--papers mine.bib"

    def __init__(
        self,
        papers: list[Path],
        gold: dict[str, str] | None = None,
        add: str | Path | None = None,
    ) -> None:
        self._add = None if add is None else Path(add)
        if self._add and not (self._add / KEPT).is_file():
            raise DataError(f"{str(add)!r} contains no library. Build one, without --add.")
        kept = [self._add / KEPT] if self._add else []
        self._files = [PaperFile(path) for path in (*kept, *papers)]
        self._gold = [(PaperFile(path), *_survey(text)) for path, text in (gold or {}).items()]
        self._counts: dict[str, Any] = {}

    def papers(self) -> Iterator[LocatedRecord]:
        """Yield every paper once, joined of all its records."""
        self._joiner, ends = Joiner(), []
        for file in (*self._files, *(file for file, *_ in self._gold)):
            for _, record in file.records():
                self._joiner.add(record)
            ends.append(len(self._joiner))
        self._cited: list[set[str]] = [set() for _ in self._gold]
        dates, with_references = Counter[str](), 0
        for members, paper in self._joiner.papers():
            for place, ids in enumerate(self._cited, len(self._files)):
                if any((ends[place - 1] if place else 0) <= n < ends[place] for n in members):
                    ids.add(paper["id"])
            date = publication_date(paper["date"]) if "date" in paper else None
            dates[date.precision if date else "none"] += 1
            with_references += bool(paper.get("references"))
            for key in (ENTRY_DATE, ENTRY_YEARS):
                paper.pop(key, None)
            yield LocatedRecord(paper, "papers", members[0] + 1)
        self._counts = {
            "dates": dict(sorted(dates.items())),
            "with_references": with_references,
            **self._joiner.report(),
        }

    def surveys(self) -> Iterator[LocatedRecord]:
        """Yield the tasks of the library that is extended, then those of `gold`."""
        if self._add and (self._add / _TASKS).is_file():
            for task in JsonLinesFile(self._add / _TASKS, "surveys"):
                try:
                    parse_survey(task.record)
                except DataError as error:
                    where = f"{str(self._add)!r} is damaged, {_TASKS} line {task.line}: "
                    raise DataError(f"{where}{error} Build it again.") from None
                listed = map(self._joiner.renamed, task.record.get("references") or ())
                yield task._replace(record={**task.record, "references": [*listed]})
        for line, ((file, title, day), ids) in enumerate(zip(self._gold, self._cited, strict=True)):
            lost = sum(number for number, *_ in file.skipped["records"].values())
            record = {
                "id": f"survey:{hash_id(normal_title(title)):016x}",
                "title": title,
                "date": day,
                "references": sorted(ids),
                "n_references_total": len(ids) + lost,
            }
            yield LocatedRecord(record, "--gold", line + 1)

    def keep(self, directory: Path) -> None:
        """Write the joined records, and the tasks, from which `add` extends the library."""
        (directory / KEPT).parent.mkdir()
        with (
            (directory / KEPT).open("wb") as raw,
            gzip.GzipFile("", "wb", 1, raw, mtime=0) as opened,
        ):
            for _, paper in self._joiner.papers():
                if paper.get("is_survey"):  # nobody may read its text
                    paper = {**paper, "abstract": "", "sections": []}
                opened.write(dumped(paper) + b"\n")
        if tasks := [dumped(task.record) + b"\n" for task in self.surveys()]:
            (directory / _TASKS).write_bytes(b"".join(tasks))

    def describe(self) -> dict[str, Any]:
        """Return the files as they were read, what was lost, and what was joined."""
        files = [f.describe() for f in (*self._files, *(file for file, *_ in self._gold))]
        return {"source": "library", "files": files, "library": self._counts}


def _survey(text: object) -> tuple[str, str]:
    """Return title and day of ``TITLE@DAY``."""
    title, _, day = str(text).rpartition("@")
    if not title.strip():
        raise DataError(f"--gold {clip(text)}: write FILE=TITLE@DAY, as in FILE=Reefs@2021-05-02.")
    return title.strip(), str(parse_date(day.strip()))
