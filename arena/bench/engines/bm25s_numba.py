"""bm25s (Lù 2024), whose index holds finished scores."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arena.bench._collection import Collection
from arena.bench.engines.base import ENGINES, Engine
from arena.retrieval.base import Ranking
from arena.text import analyze


@ENGINES.register("bm25s")
class Bm25s(Engine):
    """bm25s with numba; a cutoff is a `weight_mask`, left out when all documents are before it."""

    requires = (("bm25s", "bm25s"),)
    tolerance = 1e-5  # scores are float32

    def __init__(self, index: Any, documents: int, threads: int) -> None:
        self._index, self._documents, self._threads = index, documents, threads
        self._masks: dict[int, Any] = {documents: None}

    @classmethod
    def build(cls, collection: Collection, directory: Path) -> dict[str, Any]:
        """Analyze as the project does, hand over numbers of terms, and save."""
        import bm25s
        from bm25s.tokenization import Tokenized

        numbers: dict[str, int] = {}
        documents = [
            [numbers.setdefault(term, len(numbers)) for term in analyze(text)]
            for _, text in collection.texts()
        ]
        index = bm25s.BM25(method="lucene", k1=0.9, b=0.4, backend="numba")
        index.index(Tokenized(documents, numbers), create_empty_token=False, show_progress=False)
        index.save(directory, show_progress=False)
        return {}

    @classmethod
    def open(cls, directory: Path, collection: Collection, threads: int) -> Bm25s:
        """Load memory-mapped."""
        import bm25s

        index = bm25s.BM25.load(directory, mmap=True, show_progress=False)
        index.activate_numba_scorer()
        return cls(index, collection.documents, threads)

    def prepare(self, end: int) -> None:
        """Make the mask of a cutoff."""
        if end not in self._masks:
            mask = np.zeros(self._documents, np.float32)
            mask[:end] = 1
            self._masks[end] = mask

    def search(self, query: str, k: int, end: int) -> Ranking:
        """Search with one thread."""
        return self._retrieve([query], k, end, 1)[0]

    def batch(self, queries: Sequence[str], k: int, end: int) -> list[Ranking]:
        """Search with numba's threads."""
        return self._retrieve(queries, k, end, self._threads)

    def _retrieve(self, queries: Sequence[str], k: int, end: int, threads: int) -> list[Ranking]:
        vocabulary = self._index.vocab_dict
        known = [[term for term in analyze(query) if term in vocabulary] for query in queries]
        documents, scores = self._index.retrieve(
            known, k=k, n_threads=threads, show_progress=False, weight_mask=self._masks[end]
        )
        found = []
        for row, values in zip(documents, scores, strict=True):
            kept = values > 0  # it fills up with documents that do not match
            found.append(Ranking(row[kept].astype(np.int64), values[kept].astype(np.float64)))
        return found
