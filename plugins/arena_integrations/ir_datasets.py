"""ir_datasets: the papers, the queries with their days, and the qrels of any corpus.

`DatedDataset` needs no other package. `register` gives it a name in ir_datasets, which then finds
it wherever it takes one: `ir_datasets.load`, PyTerrier's ``irds:`` data sets, and others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from arena.corpus import Corpus, layout
from arena.errors import DataError, clip
from arena.kit.lazy import load
from arena.tasks import TaskSet, text_of, with_text

NAMESPACE = "researcharena"
"""The beginning of the names of registered data sets."""
_END = "9999-12-31"


class Doc(NamedTuple):
    """A paper; `date` is ``YYYY-MM-DD``, the last day of a month or year if no more is known."""

    doc_id: str
    title: str
    abstract: str
    date: str

    def default_text(self) -> str:
        """Return title and abstract."""
        return f"{self.title}\n{self.abstract}"


class Query(NamedTuple):
    """The text of a topic, or a question; papers dated `before` this day, ``YYYY-MM-DD``, exist."""

    query_id: str
    text: str
    before: str

    def default_text(self) -> str:
        """Return the topic."""
        return self.text


class Qrel(NamedTuple):
    """A label: `relevance` is 2 for an influential reference, else 1."""

    query_id: str
    doc_id: str
    relevance: int
    iteration: str = "0"


class DatedDataset:
    """The papers, queries and qrels of a corpus, in the form of a data set of ir_datasets.

    The papers are all that some search may find: neither undated ones nor surveys. Each query sees
    those dated before its day alone, which is for the retriever to keep: an index of `docs_iter`
    has papers, and statistics, from after it. Queries are those that have a paper to find.

    Args:
        corpus: A built corpus, or its directory.
        tasks: Directory of ``arena-corpus tasks``; by default the topics of the corpus.
        prompt: What the query is: the title, or a level of the survey's prompts.
    """

    def __init__(
        self, corpus: Corpus | str | Path, tasks: str | Path | None = None, prompt: str = "title"
    ) -> None:
        self._corpus = Corpus.resolve(corpus, tasks)
        self._tasks, self._prompt = TaskSet(self._corpus), prompt
        asked = set(with_text(self._tasks, prompt))
        self._ids = [topic_id for topic_id in self._tasks.scorable if topic_id in asked]

    def docs_iter(self) -> Iterator[Doc]:
        """Return an iterator over the papers in order of their dates; ``[i]`` and ``[i:j]`` too."""
        return _Sliced(self._docs())

    def queries_iter(self) -> Iterator[Query]:
        """Yield the queries in order of their ids."""
        for topic in map(self._tasks.topic, self._ids):
            yield Query(topic.id, text_of(topic, self._prompt) or "", topic.date)

    def qrels_iter(self) -> Iterator[Qrel]:
        """Yield the labels: the references that exist before the day of their query."""
        for topic_id in self._ids:
            for paper, gain in self._tasks.gold(topic_id).gains.items():
                yield Qrel(topic_id, paper, gain)

    def docs_store(self) -> Any:
        """Return ir_datasets' store: ``get(doc_id)`` and ``get_many(doc_ids)``."""
        view = self._corpus.at(_END)

        class Store(load("ir_datasets", "docs_store()").indices.Docstore):  # type: ignore[misc]
            def get_many_iter(self, doc_ids: Iterable[str]) -> Iterator[Doc]:
                for each in doc_ids:
                    if each in view:
                        paper = view.paper(each)
                        yield Doc(paper.id, paper.title, paper.abstract, paper.date)

        return Store(Doc)

    def _docs(self) -> Iterator[Doc]:
        import pyarrow.parquet as pq

        columns = ["id", "title", "abstract", "date", "searchable"]
        with pq.ParquetFile(self._corpus.directory / layout.PAPERS) as papers:
            for batch in papers.iter_batches(columns=columns):
                for r in batch.to_pylist():
                    if r["searchable"] and r["date"]:
                        yield Doc(r["id"], r["title"], r["abstract"] or "", r["date"].isoformat())

    def docs_count(self) -> int:
        """Return the number of papers."""
        return len(self._corpus.at(_END))

    def docs_cls(self) -> type[Doc]:
        """Return the type of a paper."""
        return Doc

    def queries_cls(self) -> type[Query]:
        """Return the type of a query."""
        return Query

    def qrels_cls(self) -> type[Qrel]:
        """Return the type of a label."""
        return Qrel

    def qrels_defs(self) -> dict[int, str]:
        """Return what the labels mean."""
        return {2: "influential reference", 1: "reference, or gold paper of a question"}


class _Sliced:
    """An iterator that ``[i]`` and ``[i:j]`` read on, as ir_datasets' own do."""

    def __init__(self, docs: Iterator[Doc]) -> None:
        self._docs = docs

    def __iter__(self) -> Iterator[Doc]:
        return self

    def __next__(self) -> Doc:
        return next(self._docs)

    def __getitem__(self, key: int | slice) -> Any:
        if isinstance(key, slice):
            return islice(self._docs, key.start, key.stop, key.step)
        return next(islice(self._docs, key, None))


def register(
    name: str, corpus: Corpus | str | Path, tasks: str | Path | None = None, prompt: str = "title"
) -> Any:
    """Give `DatedDataset` the name ``researcharena/NAME`` in ir_datasets, and return the data set.

    Raises:
        DataError: ir_datasets is not installed, or has the name.
    """
    irds = load("ir_datasets", "register()")
    full = f"{NAMESPACE}/{name}"
    if full in irds.registry:
        raise DataError(f"name={clip(name)}: ir_datasets has {full!r} already. Give another one.")
    opened = Corpus.resolve(corpus, tasks)
    bases = irds.formats.BaseDocs, irds.formats.BaseQueries, irds.formats.BaseQrels
    parts = [type("Part", (DatedDataset, base), {})(opened, prompt=prompt) for base in bases]
    irds.registry.register(full, irds.Dataset(*parts))
    return irds.load(full)
