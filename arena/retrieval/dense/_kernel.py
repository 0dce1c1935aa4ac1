"""The inner loops of flat search, compiled by numba; they release the interpreter lock.

A row is scored in float32, and again in float64, exactly, only if it could still be among the
best: if the float32 score plus `error`, a bound on its rounding, reaches the worst score kept.
So the rows kept are the true best ones. See docs/dense.md for the bound. numba has no float16 on
CPUs, so vectors come as their bits, uint16; LLVM has, and the processor's own conversion is twice
as fast as integer arithmetic where it has 256 bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

_STRIDE = 64


def _widening(typing, bits) -> Any:  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments) -> Any:  # type: ignore[no-untyped-def]
        if "+f16c" in context.codegen().magic_tuple()[2]:  # features that code is compiled for
            half = builder.bitcast(arguments[0], ir.HalfType())
            return builder.fpext(half, ir.FloatType())
        return context.compile_internal(builder, _widen, signature, arguments)

    return types.float32(types.uint16), generate


def _widen(bits) -> Any:  # type: ignore[no-untyped-def]
    magnitude = np.uint32(bits) & np.uint32(0x7FFF)
    small = np.float32(np.int32(magnitude)) * np.float32(2.0**-24)
    large = np.uint32((magnitude << np.uint32(13)) + np.uint32(112 << 23)).view(np.float32)
    value = small if magnitude < np.uint32(0x400) else large  # below it is subnormal
    return -value if bits & np.uint16(0x8000) else value


widen: Any = intrinsic(_widening)
"""Return the float32 of a finite float16 given as its bits."""


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _approximate(vectors, row, query) -> Any:  # type: ignore[no-untyped-def]
    total = np.float32(0.0)
    for i in range(len(query)):
        total += widen(vectors[row, i]) * query[i]
    return total


# In any order of summation the result is the same: it is exact.
@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def _exact(vectors, row, query) -> Any:  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(query)):
        total += np.float64(widen(vectors[row, i])) * query[i]
    return total


@njit(cache=True, nogil=True)
def exact(vectors, rows, query, scores) -> None:  # type: ignore[no-untyped-def]
    """Write the exact scores of some rows."""
    for i in range(len(rows)):
        scores[i] = _exact(vectors, rows[i], query)


@njit(cache=True, nogil=True)
def convert(vectors, low, high, out) -> None:  # type: ignore[no-untyped-def]
    """Write rows `low` to `high` as float32."""
    for row in range(low, high):
        for i in range(vectors.shape[1]):
            out[row - low, i] = widen(vectors[row, i])


@njit(cache=True, nogil=True)
def scan(  # type: ignore[no-untyped-def]
    vectors, first, end, query, exact_query, error, excluded, best_scores, best_rows, size
) -> Any:
    """Offer the rows from `first` to `end` to the heap of the best; return its new size."""
    part = vectors[first:end]
    for i in range(len(part)):
        score = np.float64(_approximate(part, i, query))
        if size == len(best_rows) and score + error < best_scores[0]:
            continue
        size = _offer(vectors, first + i, exact_query, excluded, best_scores, best_rows, size)
    return size


@njit(cache=True, nogil=True)
def offer_block(  # type: ignore[no-untyped-def]
    vectors, first, scores, ends, queries, error,
    excluded, excluded_starts, best_scores, best_rows, starts, sizes,
) -> None:  # fmt: skip
    """Offer a block of rows, scored in float32 for several queries, to the heap of each.

    scores[i, j] is that of query i and row first + j. What belongs to query i lies at
    [starts[i], starts[i + 1]) of `best_scores` and `best_rows`, and likewise of `excluded`.
    """
    for i in range(scores.shape[0]):
        mine_scores = best_scores[starts[i] : starts[i + 1]]
        mine_rows = best_rows[starts[i] : starts[i + 1]]
        without = excluded[excluded_starts[i] : excluded_starts[i + 1]]
        size, k = sizes[i], len(mine_rows)
        stop = min(scores.shape[1], ends[i] - first)
        for low in range(0, stop, _STRIDE):
            high = min(low + _STRIDE, stop)
            if size == k and np.float64(_highest(scores, i, low, high)) + error < mine_scores[0]:
                continue
            for j in range(low, high):
                if size == k and np.float64(scores[i, j]) + error < mine_scores[0]:
                    continue
                size = _offer(vectors, first + j, queries[i], without, mine_scores, mine_rows, size)
        sizes[i] = size


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _highest(scores, i, low, high) -> Any:  # type: ignore[no-untyped-def]
    highest = scores[i, low]
    for j in range(low + 1, high):
        highest = max(highest, scores[i, j])
    return highest


@njit(cache=True, nogil=True)
def _offer(  # type: ignore[no-untyped-def]
    vectors, row, query, excluded, heap_scores, heap_rows, size
) -> Any:
    """Put a row into the heap, the worst on top, if it is among the best; return the new size.

    Rows come in ascending order, so an equal score never displaces an earlier row.
    """
    place = np.searchsorted(excluded, row)
    if place < len(excluded) and excluded[place] == row:
        return size
    score = _exact(vectors, row, query)
    k = len(heap_rows)
    if size < k:
        place = size
        size += 1
        while place > 0:
            parent = (place - 1) // 2
            if heap_scores[parent] < score:
                break
            heap_scores[place] = heap_scores[parent]
            heap_rows[place] = heap_rows[parent]
            place = parent
    elif score > heap_scores[0]:
        place = 0
        while True:
            child = 2 * place + 1
            if child >= k:
                break
            right = child + 1
            if right < k and (
                heap_scores[right] < heap_scores[child]
                or (
                    heap_scores[right] == heap_scores[child] and heap_rows[right] > heap_rows[child]
                )
            ):
                child = right
            if heap_scores[child] >= score:
                break
            heap_scores[place] = heap_scores[child]
            heap_rows[place] = heap_rows[child]
            place = child
    else:
        return size
    heap_scores[place] = score
    heap_rows[place] = row
    return size
