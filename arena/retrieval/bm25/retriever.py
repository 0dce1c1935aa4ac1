"""BM25 over posting lists in document order, each cut where the scope ends.

The score of document d for the query terms t (Robertson et al. 1995, in the form that Lucene 8
and later computes)::

    sum over t of  qtf(t) * idf(t) * tf(t, d) / (tf(t, d) + k1 * (1 - b + b * |d| / avgdl))
    idf(t) = ln(1 + (N - df(t) + 0.5) / (df(t) + 0.5))

With ``statistics="cutoff"`` N, df and avgdl count only the documents of the scope, so that a
score tells nothing of later papers; with ``"corpus"`` they count every searchable document, as
conventional engines do.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena._arrays import load_array
from arena._cores import cores
from arena._strings import StringTable
from arena.errors import DataError, clip
from arena.retrieval._bm25_options import check_names, check_values
from arena.retrieval.base import RETRIEVERS, IndexInput, Ranking, Request, Retriever, Scope
from arena.text import analyze

_VALUES_BYTES = 64_000_000  # of the tables kept for the averages used last
_THREADS_FROM = 250_000  # documents; below, handing out the work costs more than it saves


@RETRIEVERS.register("bm25")
class BM25Retriever(Retriever):
    """BM25 with the statistics of the cutoff, exact and deterministic."""

    def __init__(
        self, directory: Path, *, statistics: str = "cutoff", k1: float = 0.9, b: float = 0.4
    ) -> None:
        """Open the index in `directory`, memory-mapped.

        Args:
            directory: where `build` wrote.
            statistics: ``"cutoff"`` or ``"corpus"``, see the module.
            k1: saturation of the term frequency, in [0, 1e6].
            b: weight of the document length, in [0, 1].

        Raises:
            DataError: if an option is out of its range.
        """
        from arena.retrieval.bm25 import _kernel  # compiles: only where a search is wanted

        check_values(statistics, k1, b)
        self._statistics, self._k1, self._b = statistics, float(k1), float(b)
        self._kernel = _kernel
        self._terms = StringTable(directory / "terms").arrays()
        self._starts, self._docs, self._codes, self._lengths = (
            load_array(directory / f"{name}.npy") for name in ("starts", "docs", "codes", "lengths")
        )
        self._pairs = tuple(
            load_array(directory / f"pair_{name}.npy").astype(np.float64)
            for name in ("tfs", "lengths")
        )
        self._documents_before = load_array(directory / "documents_before.npy")
        self._length_before = load_array(directory / "length_before.npy")
        self._accumulators = _kernel.Accumulators()
        self._known_values: dict[float, NDArray[np.float64]] = {}
        self._lock = threading.Lock()

    @property
    def config(self) -> dict[str, Any]:
        """The options that shape a ranking."""
        return {"statistics": self._statistics, "k1": self._k1, "b": self._b}

    @classmethod
    def build(
        cls,
        source: IndexInput,
        directory: Path,
        fields: tuple[str, ...],
        progress: Callable[..., Any],
        **options: Any,
    ) -> dict[str, Any]:
        """Write the posting lists of the searchable papers of `source`; there are no options."""
        from arena.retrieval.bm25 import _build

        for name in options:
            raise DataError(f"the index bm25 has no option {clip(name)} to build with.")

        return _build.build(source, directory, fields, progress)

    @classmethod
    def open(cls, directory: Path, **options: Any) -> BM25Retriever:
        """Open an index that `build` wrote; for the options see `__init__`."""
        check_names("bm25", options)
        return cls(directory, **options)

    def search(self, query: str, k: int, scope: Scope) -> Ranking:
        """Return the `k` best documents of `scope` that hold a term of `query`.

        Cost: the postings of the query's terms before ``scope.end``, plus ``scope.end`` itself.
        """
        end = min(scope.end, len(self._lengths))
        k = min(k, end)
        counts = Counter(analyze(query))
        if k <= 0 or not counts:
            return _NOTHING
        excluded = np.array([d for d in scope.excluded if d < end], np.int64)
        wanted = [term.encode("utf-8", "surrogatepass") for term in counts]
        numbers = self._kernel.find_terms(
            np.frombuffer(b"".join(wanted), np.uint8),
            np.array([0, *accumulate(map(len, wanted))]),
            *self._terms,
        )
        frequencies = np.array(list(counts.values()), np.float64)[numbers >= 0]
        terms, weights, average = self._weights(numbers[numbers >= 0], frequencies, end, excluded)
        if len(terms) == 0:
            return _NOTHING
        with self._accumulators.borrow() as sums:
            found = self._kernel.search(
                terms, weights, self._starts, self._docs, self._codes, self._values(average),
                end, excluded, k, sums,
            )  # fmt: skip
        return Ranking(*found)

    def search_batch(self, requests: Sequence[Request]) -> list[Ranking]:
        """Return what `search` returns for each request, in order; large searches in threads."""
        threads = min(len(requests), cores())
        if threads < 2 or max(request.scope.end for request in requests) < _THREADS_FROM:
            return [self.search(*request) for request in requests]
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(lambda request: self.search(*request), requests))

    def _weights(
        self,
        terms: NDArray[np.int64],
        frequencies: NDArray[np.float64],
        end: int,
        excluded: NDArray[np.int64],
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], float]:
        """Return term numbers, their weights, and the average length.

        The numbers ascend, so that a score does not depend on the order of the words.
        """
        at_cutoff = self._statistics == "cutoff"
        horizon = end if at_cutoff else len(self._lengths)
        hidden = excluded if at_cutoff else _NONE
        documents = self._documents_before.item(horizon) - len(hidden)
        length = self._length_before.item(horizon) - int(self._lengths[hidden].sum())
        order = np.argsort(terms)
        terms, frequencies = terms[order], frequencies[order]
        counts = self._kernel.document_frequencies(terms, self._starts, self._docs, horizon, hidden)
        # Not numpy's logarithm, whose last bit depends on the processor.
        weights = [
            qtf * math.log(1 + (documents - df + 0.5) / (df + 0.5))
            for qtf, df in zip(frequencies.tolist(), counts.tolist(), strict=True)
            if df
        ]
        return terms[counts > 0], np.array(weights), length / documents if documents else 0.0

    def _values(self, average: float) -> NDArray[np.float64]:
        """Return the value of a posting by its code, in a corpus of this average length."""
        with self._lock:
            values = self._known_values.pop(average, None)
        if values is None:
            tfs, lengths = self._pairs
            # An average of 0 comes with no postings to read.
            norms = self._k1 * (1.0 - self._b + self._b * lengths / (average or 1.0))
            values = tfs / (tfs + norms)
        with self._lock:
            self._known_values[average] = values
            while len(self._known_values) * values.nbytes > _VALUES_BYTES:
                if len(self._known_values) == 1:
                    break
                self._known_values.pop(next(iter(self._known_values)), None)
        return values


_NONE = np.empty(0, np.int64)
_NOTHING = Ranking(_NONE, np.empty(0))
