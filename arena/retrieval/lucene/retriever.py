"""Lucene's own BM25, over the documents and with the statistics of a scope.

Lucene keeps document i of its index where ours has the i-th searchable paper, so a cutoff is a
range of its document numbers, and a search scores that range and no more. What Lucene takes from
the whole index, the number of documents, their average length and the document frequency of a
term, is given to it for the scope (see `_searcher`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from arena._internal.arrays import load_array
from arena._internal.cores import cores
from arena._internal.lazy import once
from arena.errors import CorpusError
from arena.retrieval._bm25 import BM25
from arena.retrieval.base import RETRIEVERS, OpenedIndex, Ranking, Request, Scope
from arena.retrieval.lucene import _jvm
from arena.retrieval.lucene._searcher import REBUILD, SEGMENT, LuceneSearcher, Statistics
from arena.text import analyze


@RETRIEVERS.register("lucene")
class LuceneRetriever(BM25):
    """Lucene's BM25 with the statistics of the cutoff, its index on disk."""

    name = "lucene"

    def __init__(
        self, directory: Path, *, statistics: str = "cutoff", k1: float = 0.9, b: float = 0.4
    ) -> None:
        """Open the index in `directory`; Java starts with the first search.

        Args:
            directory: Directory that `build` wrote into.
            statistics: ``"cutoff"`` or ``"corpus"``, as those of ``bm25``.
            k1: Saturation of the term frequency, in [0, 1e6].
            b: Weight of the document length, in [0, 1].

        Raises:
            DataError: if an option is out of its range.
            CorpusError: if the index is damaged.
            ArenaError: if a package or Java is absent.
        """
        super().__init__(statistics, k1, b)
        _jvm.requirements()
        # Java opens its files with the first search; the arrays of another index would give wrong
        # scores.
        self._opened = OpenedIndex(directory, "documents_before.npy")
        try:
            before = load_array(directory / "documents_before.npy", np.int64)
            lengths = load_array(directory / "length_before.npy", np.int64, size=len(before))
            self._documents = load_array(directory / "documents.npy", np.uint32)
        except FileNotFoundError as error:
            raise _damaged(directory, f"{Path(error.filename).name} is missing") from None
        if not len(before) or len(self._documents) != before[-1]:
            raise _damaged(directory, "its arrays do not belong together")
        if not any((directory / SEGMENT).glob("segments_*")):
            raise _damaged(directory, f"{SEGMENT}/segments_* is missing")
        self._opened.check()
        self._documents_before, self._length_before = before, lengths
        self._segment = directory / SEGMENT

    @classmethod
    def write(cls, *arguments: Any) -> dict[str, Any]:
        """Write a Lucene index."""
        from arena.retrieval.lucene import _build

        return _build.build(*arguments)

    def search(self, query: str, k: int, scope: Scope) -> Ranking:
        """Return the `k` best documents of `scope` that hold a term of `query`.

        Scores are Lucene's float32.

        Raises:
            ArenaError: in a process forked after Java had started, or if Java runs out of memory.
            CorpusError: if Lucene cannot read its files.
        """
        before = self._documents_before
        limit = min(scope.end, len(before) - 1)
        end = before.item(limit)
        excluded = tuple(before.item(d) for d in scope.excluded if d < limit)
        k = min(k, end - len(excluded))
        terms = Counter(analyze(query)) if k > 0 else None
        if not terms:
            return Ranking(np.empty(0, np.int64), np.empty(0))
        # In the order of their bytes: sums do not depend on the order of the words.
        ordered = sorted(terms.items(), key=lambda item: item[0].encode("utf-8", "surrogatepass"))
        statistics = self._counts(limit, scope.excluded)
        _jvm.start()
        doing = f"{str(self._segment)!r} cannot be searched"
        with _jvm.java_errors(doing, REBUILD, CorpusError):
            numbers, scores = self._searcher.search(ordered, k, end, excluded, statistics)
        return Ranking(self._documents[numbers].astype(np.int64), scores.astype(np.float64))

    def search_batch(self, requests: Sequence[Request]) -> list[Ranking]:
        """Return what `search` returns for each request, in order; Lucene scores on all cores.

        They are those that the process may use, `os.sched_getaffinity`.
        """
        workers = min(cores(), len(requests))
        if workers < 2:
            return super().search_batch(requests)
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(lambda request: self.search(*request), requests))

    @once
    def _searcher(self) -> LuceneSearcher:
        with _jvm.lock:
            self._opened.check()
            searcher = LuceneSearcher(self._segment, len(self._documents), self._k1, self._b)
            self._opened.check()
            return searcher

    def _counts(self, limit: int, excluded: tuple[int, ...]) -> Statistics:
        """Return what is counted: the documents before `limit`, or those of the corpus."""
        lengths = self._length_before
        if self._statistics == "corpus":
            return Statistics(False, len(self._documents), lengths.item(-1))
        hidden = [d for d in excluded if d < limit]
        return Statistics(
            True,
            self._documents_before.item(limit) - len(hidden),
            lengths.item(limit) - sum(lengths.item(d + 1) - lengths.item(d) for d in hidden),
        )


def _damaged(directory: Path, what: str) -> CorpusError:
    return CorpusError(f"the lucene index in {str(directory)!r} is damaged: {what}. {REBUILD}")
