"""The answers every engine must give, computed the slow way in float64 from the tokens alone.

Nothing here is shared with an engine: neither postings, nor formulas, nor vectors in memory.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from arena.bench._collection import Collection
from arena.bench.engines.base import Convention

_ROWS = 16_384  # of the vectors at a time, in float64


class LexicalOracle:
    """BM25 in the form that `convention` names."""

    def __init__(self, collection: Collection, convention: Convention) -> None:
        self._collection, self._convention = collection, convention
        exact = np.asarray(collection.lengths, np.int64)
        self._before = np.concatenate([[0], np.cumsum(exact)])
        self._lengths = (byte_lengths(exact) if convention.lengths == "byte" else exact).astype(
            np.float64
        )

    def scores(self, query: int, end: int) -> NDArray[np.float64]:
        """Return the score of every document below `end`; 0 where no term matches."""
        k1, b, factor, statistics, _ = self._convention
        horizon = end if statistics == "cutoff" else self._collection.documents
        total = np.zeros(end)
        if not horizon:
            return total
        average = self._before[horizon] / horizon
        for term, repeats in sorted(Counter(self._collection.queries[query].terms).items()):
            docs, tfs = self._collection.postings(term)
            df = np.count_nonzero(docs < horizon)
            idf = np.log(1 + (horizon - df + 0.5) / (df + 0.5))
            visible = docs < end
            docs, tf = docs[visible], tfs[visible].astype(np.float64)
            norm = k1 * (1 - b + b * self._lengths[docs] / average)
            total[docs] += repeats * idf * factor * tf / (tf + norm)  # a document once a term
        return total

    def alike(self, query: int, document: int, others: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return those of `others` that no BM25 can tell from `document`: same length and tfs."""
        same = self._collection.lengths[others] == self._collection.lengths[document]
        for term in set(self._collection.queries[query].terms):
            docs, tfs = self._collection.postings(term)
            own, theirs = (_at(docs, tfs, d) for d in (np.array([document]), others))
            same &= own == theirs
        found: NDArray[np.int64] = others[same]
        return found


def _at(
    docs: NDArray[np.uint32], tfs: NDArray[np.uint32], wanted: NDArray[np.int64]
) -> NDArray[np.uint32]:
    place = np.minimum(np.searchsorted(docs, wanted.astype(np.uint32)), max(len(docs) - 1, 0))
    if not len(docs):
        return np.zeros(len(wanted), np.uint32)
    return np.where(docs[place] == wanted, tfs[place], np.uint32(0))


def dense_scores(
    vectors: NDArray[np.float16], queries: NDArray[np.float32], end: int
) -> NDArray[np.float64]:
    """Return inner products of shape (queries, end) with the vectors as they are stored."""
    found = np.empty((len(queries), end))
    wanted = queries.astype(np.float64)
    for low in range(0, end, _ROWS):
        rows = vectors[low : min(low + _ROWS, end)].astype(np.float64)
        found[:, low : low + len(rows)] = wanted @ rows.T
    return found


def byte_lengths(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Round lengths down as Lucene's SmallFloat.intToByte4 does, and Tantivy with it.

    Up to 40 a length is kept; above, 24 less than it is kept to its four leading binary digits.

    >>> byte_lengths(np.array([7, 40, 41, 43, 154, 1000])).tolist()
    [7, 40, 40, 42, 152, 984]
    """
    rest = np.maximum(lengths - 24, 0)
    drop = np.maximum(np.floor(np.log2(np.maximum(rest, 1))).astype(np.int64) - 3, 0)
    rounded: NDArray[np.int64] = np.where(lengths < 24, lengths, 24 + ((rest >> drop) << drop))
    return rounded
