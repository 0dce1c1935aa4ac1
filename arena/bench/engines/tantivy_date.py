"""Tantivy, the search library in Rust, with a range over a date field."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from arena.bench._collection import Collection
from arena.bench.engines.base import ENGINES, Convention, Engine
from arena.retrieval.base import Ranking
from arena.text import analyze

_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_HEAP = 512_000_000  # bytes that its writer may take


@ENGINES.register("tantivy")
class Tantivy(Engine):
    """Tantivy with the terms as a disjunction and the cutoff as a range over a date field."""

    requires = (("tantivy", "tantivy"),)
    convention = Convention(k1=1.2, b=0.75, factor=2.2, lengths="byte")
    tolerance = 1e-5  # scores are float32

    def __init__(self, index: Any, collection: Collection, threads: int) -> None:
        self._schema, self._searcher = index.schema, index.searcher()
        self._collection = collection
        self._pool = ThreadPoolExecutor(threads)
        self._ranges: dict[int, Any] = {}

    @classmethod
    def build(cls, collection: Collection, directory: Path) -> dict[str, Any]:
        """Index the analyzed terms, one thread, one segment."""
        import tantivy

        schema = (
            tantivy.SchemaBuilder()
            .add_text_field("text", tokenizer_name="whitespace", index_option="freq")
            .add_unsigned_field("number", fast=True)
            .add_date_field("date", fast=True, indexed=True)
            .build()
        )
        index = tantivy.Index(schema, path=str(directory))
        writer = index.writer(heap_size=_HEAP, num_threads=1)
        days = collection.days
        for number, text in collection.texts():
            document = tantivy.Document()
            document.add_text("text", " ".join(analyze(text)))
            document.add_unsigned("number", number)
            document.add_date("date", _EPOCH + dt.timedelta(days=int(days[number])))
            writer.add_document(document)
        writer.commit()
        writer.wait_merging_threads()
        index.reload()
        return {"segments": index.searcher().num_segments}

    @classmethod
    def open(cls, directory: Path, collection: Collection, threads: int) -> Tantivy:
        """Open the index, memory-mapped."""
        import tantivy

        return cls(tantivy.Index.open(str(directory)), collection, threads)

    def prepare(self, end: int) -> None:
        """Make the range of a cutoff; there is none when all documents lie before it."""
        import tantivy

        if end < self._collection.documents and end not in self._ranges:
            day = _EPOCH + dt.timedelta(days=int(self._collection.days[end]))
            allowed = tantivy.Query.range_query(
                self._schema, "date", tantivy.FieldType.Date,
                lower_bound=_EPOCH - dt.timedelta(days=100 * 365), upper_bound=day,
                include_upper=False,
            )  # fmt: skip
            self._ranges[end] = tantivy.Query.const_score_query(allowed, 0.0)

    def search(self, query: str, k: int, end: int) -> Ranking:
        """Search; documents are read from the fast field."""
        import tantivy

        occur, make = tantivy.Occur, tantivy.Query
        terms = [
            (occur.Should, make.term_query(self._schema, "text", term, index_option="freq"))
            for term in analyze(query)
        ]
        if not terms:
            return Ranking(np.empty(0, np.int64), np.empty(0))
        asked = make.boolean_query(terms)
        if end in self._ranges:
            asked = make.boolean_query([(occur.Must, asked), (occur.Must, self._ranges[end])])
        hits = self._searcher.search(asked, limit=k, count=False).hits
        documents = self._searcher.fast_field_values("number", [address for _, address in hits])
        return Ranking(
            np.array(documents, np.int64), np.array([score for score, _ in hits], np.float64)
        )

    def batch(self, queries: Sequence[str], k: int, end: int) -> list[Ranking]:
        """Search from threads: it has no batch of its own."""
        return list(self._pool.map(lambda query: self.search(query, k, end), queries))
