"""Several rankings fused into one.

Reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009), with a weight for each ranking::

    score(d) = sum over the rankings i that have d of  w_i / (k + rank_i(d))
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arena.retrieval.base import Ranking

K = 60.0
"""The usual constant of reciprocal rank fusion."""
DEPTH = 1000
"""Hits of each ranking that are fused by default."""


def reciprocal_ranks(hits: int, weight: float = 1.0, k: float = K) -> NDArray[np.float64]:
    """Return what each hit of a ranking adds to the score of its document, shape (hits,)."""
    return np.float64(weight) / (k + np.arange(1, hits + 1, dtype=np.float64))


def fuse(rankings: Sequence[Ranking], shares: Sequence[NDArray[np.float64]], k: int) -> Ranking:
    """Return the `k` documents with the largest sums of shares; ties in document order.

    `shares` has an array for each ranking, of what its hits add. The order of the rankings changes
    no bit of a score.
    """
    documents, places = np.unique(
        np.concatenate([ranking.documents for ranking in rankings]), return_inverse=True
    )
    table = np.zeros((len(documents), len(rankings)))
    start = 0
    for part, added in enumerate(shares):
        table[places[start : start + len(added)], part] = added
        start += len(added)
    table.sort(axis=1)  # smallest first, so that equals stay equal
    scores = np.zeros(len(documents))
    for column in table.T:
        scores += column
    order = np.lexsort((documents, -scores))[: max(k, 0)]
    return Ranking(documents[order].astype(np.int64), scores[order])
