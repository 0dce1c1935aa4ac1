"""Exact search over a prefix of the rows, by compiled loops."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.errors import WorkerError
from arena.kit.kernels import say_compiling
from arena.kit.process import cores
from arena.retrieval.dense._codes import Codes, shorten

_FEW = 2  # so many queries are faster one by one
_TOGETHER = 128
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


class FlatSearch:
    """Exact search by compiled loops; results do not depend on what is searched together."""

    def __init__(self, vectors: NDArray[np.float16], codes: Codes) -> None:
        from arena.retrieval.dense import _kernel  # compiles: only where a search is wanted

        say_compiling(_kernel.scan)
        self._kernel = _kernel
        self._bits, self._codes = vectors.view(np.uint16), codes

    def search(self, requests: Sequence[RowRequest]) -> list[RowRanking]:
        """Return the best rows of each.

        `end` rows are read for each, or for every 128 together while three or more want them.
        """
        # Longest prefixes first: while rows go up, the queries that still want them are the first.
        order = sorted(range(len(requests)), key=lambda i: -requests[i].end)
        asked = os.environ.get("OMP_NUM_THREADS", "")
        threads = max(1, min(int(asked), cores(), len(order))) if asked.isdecimal() else 1
        size = min(_TOGETHER, max(1, -(-len(order) // threads)))
        groups = [order[low : low + size] for low in range(0, len(order), size)]

        def search(group: list[int]) -> list[RowRanking]:
            return list(self._group([requests[i] for i in group]))

        if threads == 1:
            found = [search(group) for group in groups]
        else:
            with ThreadPoolExecutor(threads) as pool:
                found = list(pool.map(search, groups))
        rankings = dict(zip(order, chain.from_iterable(found), strict=True))
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
        queries = np.stack([request.query for request in requests]).astype(np.float64)
        ends, ks = np.array([(request.end, request.k) for request in requests], np.int64).T.copy()
        excluded_starts, excluded = _joined([request.excluded for request in requests])
        shorter, tile = [shorten(query) for query in queries], self._kernel.TILE
        shortened = np.array([each[1:] for each in shorter])
        stops = ends[_FEW::tile]  # of the rows that a tile of queries shares
        numbers = np.zeros((max(len(stops) * tile, len(ends)), len(shorter[0][0])), np.int16)
        numbers[: len(ends)] = [each[0] for each in shorter]

        def scan(first: int, stops: Any, numbers: NDArray[np.int16], mine: slice) -> None:
            self._kernel.scan(
                self._bits, *self._codes, first, stops, numbers, shortened[mine], queries[mine],
                ends[mine], ks[mine], excluded, excluded_starts[mine.start :], rows, lower, upper,
                starts[mine.start :], states[mine],
            )  # fmt: skip

        if len(stops):
            tiles = numbers[: len(stops) * tile].reshape(len(stops), tile, -1)
            scan(0, stops, tiles, slice(0, len(ends)))
        for i, request in enumerate(requests):
            done = stops[i // tile] if i // tile < len(stops) else 0
            if done < request.end:
                scan(done, ends[i : i + 1], numbers[i : i + 1, None], slice(i, i + 1))
            mine = slice(starts[i], starts[i + 1])
            found = rows[mine], lower[mine], upper[mine]
            left = self._kernel.shrink(
                self._bits, queries[i], request.k, *found, int(states[i, 0]), states[i], True
            )
            yield RowRanking(found[0][:left].copy(), found[1][:left].copy())


def _joined(parts: list[NDArray[Any]]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return where each part starts (and the last one ends), and all in one array."""
    starts = np.zeros(len(parts) + 1, np.int64)
    starts[1:] = np.cumsum([len(part) for part in parts])
    return starts, np.concatenate(parts)
