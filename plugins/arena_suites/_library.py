"""The papers of a corpus, for suites that find what reports cite."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from arena.corpus import layout
from arena.dates import parse_date
from arena.report import PaperFinder, PaperName, Reference
from arena.tasks import TaskSet


class CorpusPaper(NamedTuple):
    """A paper as a corpus knows it."""

    name: PaperName
    day: int | None
    is_survey: bool


class Library:
    """The papers of a corpus, by all that a report may call them; none without a corpus."""

    def __init__(self, corpus: str | None) -> None:
        self._papers = {paper.name.id: paper for paper in _papers(corpus)} if corpus else {}
        self.is_known = corpus is not None
        self.finder = PaperFinder(paper.name for paper in self._papers.values())

    def find(self, reference: Reference) -> CorpusPaper | None:
        """Return the paper that a reference names."""
        return self.get(self.finder.find(reference))

    def get(self, paper: str | None) -> CorpusPaper | None:
        """Return a paper by its id."""
        return self._papers.get(paper or "")


def _papers(corpus: str) -> Iterable[CorpusPaper]:
    import pyarrow.parquet as pq

    tasks, columns = TaskSet(corpus), ["id", "date", "is_survey"]
    facts = {
        row["id"]: (None if row["date"] is None else parse_date(row["date"]).day, row["is_survey"])
        for row in pq.read_table(Path(corpus) / layout.PAPERS, columns=columns).to_pylist()
    }
    for name in tasks.paper_names():
        if name.id not in facts:  # a survey that is not a paper of the corpus
            facts[name.id] = parse_date(tasks.topic(name.id).date).day, True
        yield CorpusPaper(name, *facts[name.id])
