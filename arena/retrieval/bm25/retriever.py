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
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena._arrays import load_array
from arena._strings import StringTable
from arena.errors import DataError, clip, did_you_mean
from arena.retrieval.base import RETRIEVERS, IndexInput, Ranking, Retriever, Scope
from arena.text import analyze

STATISTICS = ("cutoff", "corpus")


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

        if statistics not in STATISTICS:
            raise DataError(
                f"no statistics named {clip(statistics)}.{did_you_mean(statistics, STATISTICS)}"
            )
        for name, value, most in (("k1", k1, 1e6), ("b", b, 1.0)):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise DataError(f"{name}={clip(value)} is no number.")
            if not (0 <= value <= most):
                raise DataError(f"{name}={clip(value)}: give a number from 0 to {most:g}.")
        self._statistics, self._k1, self._b = statistics, float(k1), float(b)
        self._kernel = _kernel
        self._terms = StringTable(directory / "terms")

        self._starts, self._docs, self._tfs, self._lengths = (
            load_array(directory / f"{name}.npy") for name in ("starts", "docs", "tfs", "lengths")
        )
        self._documents_before = load_array(directory / "documents_before.npy")
        self._length_before = load_array(directory / "length_before.npy")
        self._accumulators = _kernel.Accumulators(len(self._lengths))

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
        known = ("statistics", "k1", "b")
        for name in options:
            if name not in known:
                raise DataError(f"bm25 has no option {clip(name)}.{did_you_mean(name, known)}")
        return cls(directory, **options)

    def search(self, query: str, k: int, scope: Scope) -> Ranking:
        """Return the `k` best documents of `scope` that hold a term of `query`.

        Cost: the postings of the query's terms before ``scope.end``, plus ``scope.end`` itself.
        """
        end = min(scope.end, len(self._lengths))
        k = min(k, end)
        if k <= 0:
            return _ranking(np.empty(0, np.int64), np.empty(0))
        excluded = np.asarray([d for d in scope.excluded if d < end], dtype=np.int64)
        terms, weights, average = self._weights(query, end, excluded)
        if len(terms) == 0:
            return _ranking(np.empty(0, np.int64), np.empty(0))
        with self._accumulators.borrow() as accumulator:
            documents, scores = self._kernel.search(
                terms, weights, self._starts, self._docs, self._tfs, self._lengths,
                self._k1, self._b, average, end, excluded, k, accumulator,
            )  # fmt: skip
        return _ranking(documents, scores)

    def _weights(
        self, query: str, end: int, excluded: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], float]:
        """Return term numbers, their weights, and the average length.

        The numbers ascend, so that a score does not depend on the order of the words.
        """
        counts = Counter(analyze(query))
        found = sorted(
            (number, qtf)
            for term, qtf in counts.items()
            if (number := self._terms.find_sorted(term.encode("utf-8", "surrogatepass"))) >= 0
        )
        at_cutoff = self._statistics == "cutoff"
        horizon = end if at_cutoff else len(self._lengths)
        documents = self._documents_before.item(horizon)
        length = self._length_before.item(horizon)
        if at_cutoff:
            documents -= len(excluded)
            length -= int(self._lengths[excluded].sum())
        terms, weights = [], []
        for number, qtf in found:
            low, high = self._starts.item(number), self._starts.item(number + 1)
            postings = self._docs[low:high]
            if at_cutoff:
                before = _place(postings, end)
                df = before - sum(_holds(postings[:before], document) for document in excluded)
            else:
                df = high - low
            if df:
                terms.append(number)
                weights.append(qtf * math.log(1 + (documents - df + 0.5) / (df + 0.5)))
        average = length / documents if documents else 0.0
        return np.array(terms, np.int64), np.array(weights, np.float64), average


def _holds(postings: NDArray[Any], document: int) -> bool:
    place = _place(postings, document)
    return place < len(postings) and int(postings[place]) == document


def _place(postings: NDArray[Any], document: int) -> int:
    # In the array's own type: searchsorted would otherwise convert the whole list first.
    return int(np.searchsorted(postings, postings.dtype.type(document)))


def _ranking(documents: NDArray[np.int64], scores: NDArray[np.float64]) -> Ranking:
    order = np.lexsort((documents, -scores))
    return Ranking(documents[order], scores[order])
