"""The inner loops of flat search, compiled by numba; they release the interpreter lock.

A row is first scored roughly: by its 8-bit codes for one query (`_codes` has how far that may
be off), in float32 for many (`error_bound`). It is scored again in float64, exactly, only if it
could still be among the best. So the rows kept are the true best ones. See docs/dense.md.

numba has no float16 on CPUs, so vectors come as their bits, uint16; LLVM has, and the processor's
own conversion is twice as fast as integer arithmetic where it has 256 bits.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from arena.kit.kernels import kernel, kth_largest
from arena.retrieval.dense._codes import LANES

cgutils: Any = importlib.import_module("numba.core.cgutils")  # without types
_PLAIN: bool = importlib.import_module("numba.core.config").DISABLE_JIT
make_array: Any = importlib.import_module("numba.np.arrayobj").make_array
_STRIDE = 64  # scores that are skipped together
_SCORED = 2048  # rows between two looks at the scores
_CHECKED = 8  # candidates of something else whose scores are compared with what it promises
_AHEAD = 8192  # bytes that memory is asked for ahead of a scan


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


widen: Any = _widen if _PLAIN else intrinsic(_widening)
"""Return the float32 of a finite float16 given as its bits."""


def _multiplying(typing, codes, row, query) -> Any:  # type: ignore[no-untyped-def]
    """The inner product of a row of codes and a query as long, a multiple of `LANES`.

    LLVM makes one instruction of 16 products and the sums of their pairs where a processor has
    it, but only of vectors as wide as these; those it makes of a loop are half as wide.
    """

    def generate(context, builder, signature, arguments) -> Any:  # type: ignore[no-untyped-def]
        rows, number = make_array(codes)(context, builder, arguments[0]), ir.IntType(32)
        width = builder.extract_value(rows.shape, 1)
        data = builder.gep(rows.data, [builder.mul(arguments[1], width)])
        other = make_array(query)(context, builder, arguments[2]).data
        half = ir.VectorType(number, LANES // 2)
        total = cgutils.alloca_once_value(builder, ir.Constant(half, None))

        def declare(name, result, *taken) -> Any:  # type: ignore[no-untyped-def]
            kind = ir.FunctionType(result, taken)
            return cgutils.get_or_insert_function(builder.module, kind, name)

        def load(pointer, place) -> Any:  # type: ignore[no-untyped-def]
            kind = ir.VectorType(pointer.type.pointee, LANES).as_pointer()
            some = builder.load(builder.bitcast(builder.gep(pointer, [place]), kind), align=1)
            return builder.sext(some, ir.VectorType(number, LANES))

        prefetch = declare("llvm.prefetch.p0", ir.VoidType(), data.type, number, number, number)
        how = [ir.Constant(number, n) for n in (0, 3, 1)]  # to read, into all caches, data
        zero, step, ahead = (context.get_constant(types.intp, n) for n in (0, LANES, _AHEAD))
        with cgutils.for_range_slice(builder, zero, width, step) as (place, _):
            builder.call(prefetch, [builder.gep(data, [builder.add(place, ahead)]), *how])
            products = builder.mul(load(data, place), load(other, place))
            for first in (0, 1):
                pairs = ir.Constant(half, list(range(first, LANES, 2)))
                some = builder.shuffle_vector(products, products, pairs)
                builder.store(builder.add(builder.load(total), some), total)
        add = declare(f"llvm.vector.reduce.add.v{LANES // 2}i32", number, half)
        return builder.call(add, [builder.load(total)])

    return types.int32(codes, row, query), generate


def _multiply(codes, row, query) -> Any:  # type: ignore[no-untyped-def]
    return np.dot(codes[row].astype(np.int64), query.astype(np.int64))


_product: Any = _multiply if _PLAIN else intrinsic(_multiplying)


# In any order of summation the result is the same: it is exact.
@kernel(fastmath={"reassoc", "contract"})
def _exact(vectors, row, query) -> Any:  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(query)):
        total += np.float64(widen(vectors[row, i])) * query[i]
    return total


@kernel
def exact(vectors, rows, query, scores) -> None:  # type: ignore[no-untyped-def]
    """Write the exact scores of some rows."""
    for i in range(len(rows)):
        scores[i] = _exact(vectors, rows[i], query)


@kernel
def convert(vectors, low, high, out) -> None:  # type: ignore[no-untyped-def]
    """Write rows `low` to `high` as float32."""
    for row in range(low, high):
        for i in range(vectors.shape[1]):
            out[row - low, i] = widen(vectors[row, i])


@kernel
def scan(  # type: ignore[no-untyped-def]
    vectors, codes, bounds, first, end, numbers, step, length, slack,
    query, k, excluded, rows, lower, upper, state,
) -> None:  # fmt: skip
    """Offer the rows from `first` to `end` to one query, which `shorten` made `numbers` of."""
    scores = np.empty(_SCORED, np.float32)
    step, length = np.float32(step), np.float32(length)
    for low in range(first, end, _SCORED):
        high = min(low + _SCORED, end)
        largest = np.float32(0.0)
        for row in range(low, high):
            score = np.float32(_product(codes, row, numbers)) * (bounds[row, 0] * step)
            error = bounds[row, 1] * length
            scores[row - low] = score + error
            largest = error if error > largest else largest
        below, part = np.float64(2 * largest) + slack, scores[: high - low]
        _offer(vectors, low, part, below, slack, query, k, excluded, rows, lower, upper, state)


@kernel
def offer_block(  # type: ignore[no-untyped-def]
    vectors, first, scores, ends, error, queries, ks, excluded, excluded_starts,
    rows, lower, upper, starts, states,
) -> None:  # fmt: skip
    """Offer a block of rows, scored for several queries, to each.

    scores[i, j] is that of query i and row first + j. What belongs to query i lies at
    [starts[i], starts[i + 1]) of `rows`, `lower` and `upper`, and likewise of `excluded`.
    """
    for i in range(scores.shape[0]):
        part, mine = scores[i, : max(0, ends[i] - first)], slice(starts[i], starts[i + 1])
        without = excluded[excluded_starts[i] : excluded_starts[i + 1]]
        _offer(
            vectors, first, part, error, error, queries[i], ks[i], without,
            rows[mine], lower[mine], upper[mine], states[i],
        )  # fmt: skip


@kernel
def _offer(  # type: ignore[no-untyped-def]
    vectors, first, scores, below, above, query, k, excluded, rows, lower, upper, state
) -> None:
    """Add the rows from `first` on, in ascending order, to the candidates of a query.

    A score is at most `below` too high and `above` too low. That of candidate rows[i] is from
    lower[i] to upper[i]; state[0] says how many there are, and state[1] is a score that `k` rows
    reach.
    """
    size = int(state[0])
    for low in range(0, len(scores), _STRIDE):
        some = scores[low : low + _STRIDE]
        if np.float64(_highest(some)) + above < state[1]:
            continue
        for j in range(len(some)):
            score, row = np.float64(some[j]), first + low + j
            if score + above < state[1] or _contains(excluded, row):
                continue
            if size == len(rows):
                size = shrink(vectors, query, k, rows, lower, upper, size, state, False)
            rows[size], lower[size], upper[size] = row, score - below, score + above
            size += 1
    state[0] = size


@kernel(fastmath={"nnan", "nsz"})
def _highest(scores) -> Any:  # type: ignore[no-untyped-def]
    highest = scores[0]
    for score in scores:
        highest = score if score > highest else highest
    return highest


@kernel
def _contains(rows, row) -> Any:  # type: ignore[no-untyped-def]
    place = np.searchsorted(rows, row) if len(rows) else 0
    return place < len(rows) and rows[place] == row


@kernel
def shrink(  # type: ignore[no-untyped-def]
    vectors, query, k, rows, lower, upper, size, state, last
) -> Any:
    """Drop candidates that cannot be among the best `k`; return how many are left.

    If too many are left, or this is the `last` time, they are scored exactly, and the best `k`
    stay, best first. Of equal scores the lower row is first, now and after any other time.
    """
    left = _drop(k, rows, lower, upper, size, state)
    if not last and 2 * left <= len(rows):
        return left
    for i in range(left):  # k rows, whose exact scores show that others cannot be among the best
        if state[1] <= lower[i] < upper[i]:
            lower[i] = upper[i] = _exact(vectors, rows[i], query)
    left = _drop(k, rows, lower, upper, left, state)
    for i in range(left):
        if lower[i] < upper[i]:
            lower[i] = upper[i] = _exact(vectors, rows[i], query)
    order = np.argsort(-lower[:left], kind="mergesort")[:k]
    best, scores = rows[order], lower[order]
    for i in range(len(order)):  # numba takes seconds to compile an assignment of arrays
        rows[i], lower[i], upper[i] = best[i], scores[i], scores[i]
    return len(order)


@kernel
def choose(  # type: ignore[no-untyped-def]
    vectors, queries, ks, starts, rows, lower, upper, sizes
) -> Any:
    """Leave the best candidates of each query, first in its part, and write how many they are.

    Returns False if the exact score of one, of some for each query, is not within its bounds.
    """
    for i in range(len(ks)):
        size, mine = starts[i + 1] - starts[i], slice(starts[i], starts[i + 1])
        for j in range(starts[i], starts[i + 1], max(1, size // _CHECKED)):
            if not lower[j] <= _exact(vectors, rows[j], queries[i]) <= upper[j]:
                return False
        state = np.array([0.0, -np.inf])
        sizes[i] = shrink(
            vectors, queries[i], ks[i], rows[mine], lower[mine], upper[mine], size, state, True
        )
    return True


@kernel
def _drop(k, rows, lower, upper, size, state) -> Any:  # type: ignore[no-untyped-def]
    if size > k:
        state[1] = max(state[1], kth_largest(lower, size, k))
    left = 0
    for i in range(size):
        if upper[i] >= state[1]:
            rows[left], lower[left], upper[left] = rows[i], lower[i], upper[i]
            left += 1
    return left
