"""Exact search over a prefix of the rows, by compiled loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.errors import WorkerError
from arena.kit.kernels import say_compiling
from arena.kit.process import one_thread
from arena.retrieval.dense._codes import Codes, shorten

_FEW = 39  # so many queries are faster one by one than as a matrix,
_SHARED_FROM = 10_000  # and of fewer rows any number
_TOGETHER = 128
_BLOCK_ROWS = 2048
_SPARE = 512  # candidates that are kept besides twice as many as are asked for


class RowRequest(NamedTuple):
    """One search, in rows."""

    query: NDArray[np.float16]  # shape (dimension,), length 1
    k: int  # number of rows to return, at least 1 and at most the rows of the scope
    end: int  # rows below this are searched,
    excluded: NDArray[np.int64]  # except these, ascending


class RowRanking(NamedTuple):
    """Rows best first: higher score, then lower row. int64 and float64, shape (k,)."""

    rows: NDArray[np.int64]
    scores: NDArray[np.float64]


def best(rows: NDArray[np.int64], scores: NDArray[np.float64], k: int) -> RowRanking:
    """Return the `k` best of some rows in order."""
    order = np.lexsort((rows, -scores))[:k]
    return RowRanking(rows[order], scores[order])


def error_bound(dimension: int) -> float:
    """Return how far a float32 score can be from the exact one, in any order of summation.

    Only the additions round: the error is at most g * sum |q_i d_i| with g = (n - 1) u / (1 - (n -
    1) u), u = 2^-24 (Higham 2002, section 4.2), and the sum is at most the product of the lengths,
    which rounding to float16 leaves below 1.001. One per cent on top covers both up to 65,536
    dimensions.
    """
    return 1.01 * dimension * 2.0**-24


class FlatSearch:
    """Exact search by compiled loops and matrix products; results do not depend on which."""

    def __init__(self, vectors: NDArray[np.float16], codes: Codes) -> None:
        from arena.retrieval.dense import _kernel  # compiles: only where a search is wanted

        say_compiling(_kernel.scan)
        self._kernel = _kernel
        self._bits, self._codes = vectors.view(np.uint16), codes
        self._error = error_bound(vectors.shape[1])

    def search(self, requests: Sequence[RowRequest]) -> list[RowRanking]:
        """Return the best rows of each.

        `end` rows are read for each, or for every 128 together while 40 or more still want them.
        """
        # Longest prefixes first: while rows go up, the queries that still want them are the first.
        order = sorted(range(len(requests)), key=lambda i: -requests[i].end)
        rankings: dict[int, RowRanking] = {}
        for low in range(0, len(order), _TOGETHER):
            some = order[low : low + _TOGETHER]
            rankings.update(zip(some, self._group([requests[i] for i in some]), strict=True))
        return [rankings[i] for i in range(len(requests))]

    def exact(self, query: NDArray[np.float16], rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the exact scores of some rows."""
        scores = np.empty(len(rows))
        self._kernel.exact(self._bits, rows, query.astype(np.float64), scores)
        return scores

    def choose(
        self, requests: Sequence[RowRequest], starts: NDArray[np.int64], *found: NDArray[Any]
    ) -> list[RowRanking]:
        """Return the best of candidates that were scored elsewhere.

        `found` are their rows, and from where to where the exact scores are, float64; those of
        request i lie at [starts[i], starts[i + 1]), rows ascending, and are changed. WorkerError if
        a score is found to lie elsewhere.
        """
        queries, sizes = np.stack([request.query for request in requests]), np.zeros_like(starts)
        ks = np.array([request.k for request in requests])
        if not self._kernel.choose(
            self._bits, queries.astype(np.float64), ks, starts, *found, sizes
        ):
            raise WorkerError(
                "the device scored a paper further off than it should, so it does not add products "
                "of float16 numbers in float32. Search with dense itself, without gpu."
            )
        parts = [slice(low, low + size) for low, size in zip(starts, sizes, strict=True)]
        return [RowRanking(found[0][part].copy(), found[1][part].copy()) for part in parts[:-1]]

    def _group(self, requests: list[RowRequest]) -> Iterator[RowRanking]:
        sizes = [min(2 * each.k + _SPARE, each.end) for each in requests]
        starts = np.cumsum([0, *sizes])
        rows, lower, upper = (np.empty(starts[-1], dtype) for dtype in (np.int64, float, float))
        states = np.array([[0.0, -np.inf]] * len(requests))  # see `_kernel._offer`
        shared = requests[_FEW].end if len(requests) > _FEW else 0
        if shared >= _SHARED_FROM:
            with one_thread():
                self._together(requests, shared, rows, lower, upper, starts, states)
        else:
            shared = 0
        for request, start, size, state in zip(requests, starts, sizes, states, strict=False):
            query, mine = request.query.astype(np.float64), slice(start, start + size)
            found = rows[mine], lower[mine], upper[mine]
            if shared < request.end:
                self._kernel.scan(
                    self._bits, *self._codes, shared, request.end, *shorten(query), query,
                    request.k, request.excluded, *found, state,
                )  # fmt: skip
            left = self._kernel.shrink(
                self._bits, query, request.k, *found, int(state[0]), state, True
            )
            yield RowRanking(found[0][:left].copy(), found[1][:left].copy())

    def _together(self, requests: list[RowRequest], stop: int, *found: Any) -> None:
        """Offer the rows below `stop` by products of matrices."""
        queries = np.stack([request.query for request in requests])
        single, double = queries.astype(np.float32), queries.astype(np.float64)
        ends, ks = np.array([(request.end, request.k) for request in requests], np.int64).T.copy()
        excluded_starts, excluded = _joined([request.excluded for request in requests])
        block = np.empty((min(_BLOCK_ROWS, stop), queries.shape[1]), np.float32)
        products = np.empty((len(requests), len(block)), np.float32)
        for low in range(0, stop, _BLOCK_ROWS):
            high = min(low + _BLOCK_ROWS, stop)
            active = int(np.count_nonzero(ends > low))
            part = products.ravel()[: active * (high - low)].reshape(active, high - low)
            self._kernel.convert(self._bits, low, high, block)
            np.matmul(single[:active], block[: high - low].T, out=part)
            self._kernel.offer_block(
                self._bits, low, part, ends, self._error, double, ks, excluded, excluded_starts,
                *found,
            )  # fmt: skip


def _joined(parts: list[NDArray[Any]]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return where each part starts (and the last one ends), and all in one array."""
    starts = np.zeros(len(parts) + 1, np.int64)
    starts[1:] = np.cumsum([len(part) for part in parts])
    return starts, np.concatenate(parts)
