"""Inner loops compiled by numba, and kept on disk where that can be."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

__all__ = ["descending", "kernel", "kth_largest", "say_compiling"]


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Callable[..., Any]:
    """Compile a function with numba's `options`, without the interpreter lock; a decorator."""
    if function is None:
        return lambda function: kernel(function, **options)
    try:
        made: Callable[..., Any] = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # neither beside the code, nor below a home, can anything be written
        made = njit(nogil=True, **options)(function)
    return made


@kernel
def kth_largest(values, count, k) -> Any:  # type: ignore[no-untyped-def]
    """Return the `k`-th largest of the first `count` >= `k` >= 1 values, none of them NaN.

    Hoare's FIND (CACM 4(7), 1961), since numba takes ten times as long to compile np.partition.
    """
    some = values[:count].copy()
    low, high, place = np.int64(0), np.int64(count - 1), np.int64(k - 1)
    while low < high:
        pivot = some[(low + high) >> 1]
        i, j = low, high
        while i <= j:
            while some[i] > pivot:
                i += 1
            while some[j] < pivot:
                j -= 1
            if i <= j:
                some[i], some[j] = some[j], some[i]
                i += 1
                j -= 1
        if j < place < i:
            break
        low, high = (low, j) if place <= j else (i, high)
    return some[place]


@kernel
def descending(values, count) -> Any:  # type: ignore[no-untyped-def]
    """Return the places of the first `count` values, the largest first; equal ones stay in order.

    A merge sort from the bottom, since numba takes four times as long to compile np.argsort.
    """
    order, merged = np.arange(count), np.empty(count, np.int64)
    width = np.int64(1)
    while width < count:
        for low in range(0, count, 2 * width):
            middle, high = min(low + width, count), min(low + 2 * width, count)
            left, right = low, middle
            for place in range(low, high):
                if right == high or (left < middle and values[order[left]] >= values[order[right]]):
                    merged[place] = order[left]
                    left += 1
                else:
                    merged[place] = order[right]
                    right += 1
        order, merged = merged, order
        width *= 2
    return order


def say_compiling(kernel: Any) -> None:
    """Say on a terminal that numba will compile a kernel, unless it has done so before."""
    if not hasattr(kernel, "_cache"):  # NUMBA_DISABLE_JIT
        return
    if (kept := kernel._cache.cache_path) is None:
        print("Compiling the search, in each process: set NUMBA_CACHE_DIR to a folder that can be "
              "written, to keep it.", file=sys.stderr)  # fmt: skip
        return
    name = f"{kernel.py_func.__module__.rpartition('.')[2]}.{kernel.__name__}-*.nbi"
    if sys.stderr.isatty() and not next(Path(kept).glob(name), None):
        print("Compiling the search, once on this machine: some seconds.", file=sys.stderr)
