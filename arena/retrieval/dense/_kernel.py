"""The inner loops of flat search, compiled by numba; they release the interpreter lock.

A row is first scored roughly, by its 8-bit codes; `_codes` has how far that may be off. It is
scored again in float64, exactly, only if it could still be among the best. So the rows kept are the
true best ones. See docs/dense.md.

numba has no float16 on CPUs, so vectors come as their bits, uint16; LLVM has, and the processor's
own conversion is twice as fast as integer arithmetic where it has 256 bits.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from arena.kit.kernels import descending, kernel, kth_largest
from arena.retrieval.dense._codes import LANES

cgutils: Any = importlib.import_module("numba.core.cgutils")  # without types
_PLAIN: bool = importlib.import_module("numba.core.config").DISABLE_JIT
make_array: Any = importlib.import_module("numba.np.arrayobj").make_array
_STRIDE = 64  # scores that are skipped together
TILE = 8  # queries that are multiplied with a row at once
_SCORED = 512  # rows between two looks at the scores: their codes stay in the processor's cache
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


def _multiplying(count: int) -> Callable[..., Any]:
    def multiplying(typing, codes, row, queries, products, place) -> Any:  # type: ignore[no-untyped-def]
        """Write the inner products of a row of codes and `count` queries at a place of each.

        Rows and queries have a multiple of `LANES` components. LLVM makes one instruction of 16
        products and the sums of their pairs where a processor has it, but only of vectors as wide
        as these; those it makes of a loop are half as wide.
        """

        def generate(context, builder, signature, arguments) -> Any:  # type: ignore[no-untyped-def]
            def array(kind, place) -> Any:  # type: ignore[no-untyped-def]
                return make_array(kind)(context, builder, arguments[place])

            rows, many, out = array(codes, 0), array(queries, 2), array(products, 3)
            number, width = ir.IntType(32), builder.extract_value(rows.shape, 1)
            data = builder.gep(rows.data, [builder.mul(arguments[1], width)])
            zero, step, ahead = (context.get_constant(types.intp, n) for n in (0, LANES, _AHEAD))
            nothing = ir.Constant(ir.VectorType(number, 8), None)
            sums = [cgutils.alloca_once_value(builder, nothing) for _ in range(count)]

            def pointer(base, line, length, column) -> Any:  # type: ignore[no-untyped-def]
                start = builder.mul(context.get_constant(types.intp, line), length)
                return builder.gep(base, [builder.add(start, column)])

            def load(pointer) -> Any:  # type: ignore[no-untyped-def]
                kind = ir.VectorType(pointer.type.pointee, LANES).as_pointer()
                some = builder.load(builder.bitcast(pointer, kind), align=1)
                return builder.sext(some, ir.VectorType(number, LANES))

            def add(a, b, first, second) -> Any:  # type: ignore[no-untyped-def]
                kind = ir.VectorType(number, len(first))
                some = (ir.Constant(kind, [*lanes]) for lanes in (first, second))
                return builder.add(*(builder.shuffle_vector(a, b, lanes) for lanes in some))

            kind = ir.FunctionType(ir.VoidType(), (data.type, number, number, number))
            prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            how = [ir.Constant(number, n) for n in (0, 3, 1)]  # to read, into all caches, data
            with cgutils.for_range_slice(builder, zero, width, step) as (column, _):
                builder.call(prefetch, [builder.gep(data, [builder.add(column, ahead)]), *how])
                some = load(builder.gep(data, [column]))
                for i, total in enumerate(sums):
                    part = builder.mul(some, load(pointer(many.data, i, width, column)))
                    part = add(part, part, range(0, LANES, 2), range(1, LANES, 2))
                    for half in (LANES // 4, LANES // 8):
                        part = add(part, part, range(half), range(half, 2 * half))
                    builder.store(builder.add(builder.load(total), part), total)
            left = [builder.load(total) for total in sums]
            for _ in range(3):  # sums of neighbours, until the first elements are the products
                pairs = zip(left[::2], left[1::2] or left, strict=True)
                left = [add(a, b, range(0, 16, 2), range(1, 16, 2)) for a, b in pairs]
            length = builder.extract_value(out.shape, 1)
            for i in range(count):
                product = builder.extract_element(left[0], ir.Constant(number, i))
                builder.store(product, pointer(out.data, i, length, arguments[4]))
            return context.get_dummy_value()

        return types.void(codes, row, queries, products, place), generate

    return multiplying


def _multiply(codes, row, queries, products, place) -> None:  # type: ignore[no-untyped-def]
    products[:, place] = np.dot(queries.astype(np.int64), codes[row].astype(np.int64))


_product: Any = _multiply if _PLAIN else intrinsic(_multiplying(1))
_products: Any = _multiply if _PLAIN else intrinsic(_multiplying(TILE))


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
def scan(  # type: ignore[no-untyped-def]
    vectors, codes, bounds, first, stops, numbers, shortened, queries, ends, ks, excluded,
    excluded_starts, rows, lower, upper, starts, states,
) -> None:  # fmt: skip
    """Offer rows from `first` on to several queries: to those of tile t, the rows below stops[t].

    No stop is above that of the tile before. `shorten` made `numbers` of the queries, of shape
    (tiles, 1 or `TILE`, columns), and `shortened` of each: step, length and slack. What belongs to
    query i lies at [starts[i], starts[i + 1]) of `rows`, `lower` and `upper`, and likewise of
    `excluded`.
    """
    size, numbers = numbers.shape[1], numbers.copy()  # so they do not lie across lines of a cache
    products, scores = np.empty((size, _SCORED), np.int32), np.empty(_SCORED, np.float32)
    for low in range(first, stops[0], _SCORED):
        for tile in range(len(stops)):
            some, residual, high = numbers[tile], np.float32(0.0), min(low + _SCORED, stops[tile])
            for row in range(low, high):
                if size == 1:
                    _product(codes, row, some, products, row - low)
                else:
                    _products(codes, row, some, products, row - low)
                residual = bounds[row, 1] if bounds[row, 1] > residual else residual
            for i in range(tile * size, min(tile * size + size, len(ks))):
                step, length = np.float32(shortened[i, 0]), np.float32(shortened[i, 1])
                part, slack = scores[: max(0, min(high, ends[i]) - low)], shortened[i, 2]
                for j in range(len(part)):
                    score = np.float32(products[i - tile * size, j]) * (bounds[low + j, 0] * step)
                    part[j] = score + bounds[low + j, 1] * length
                mine = slice(starts[i], starts[i + 1])
                _offer(
                    vectors, low, part, np.float64(2 * (residual * length)) + slack, slack,
                    queries[i], ks[i], excluded[excluded_starts[i] : excluded_starts[i + 1]],
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
    low, high = np.int64(0), np.int64(len(rows))
    while low < high:  # numba takes far longer to compile np.searchsorted
        middle = (low + high) >> 1
        low, high = (middle + 1, high) if rows[middle] < row else (low, middle)
    return low < len(rows) and rows[low] == row


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
    order = descending(lower, left)[:k]
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
