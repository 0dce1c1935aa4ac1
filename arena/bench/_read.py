"""Loops that read an array as fast as the machine can; compiled once and kept."""

from __future__ import annotations

from typing import Any

from numba import njit, prange


@njit(cache=True, nogil=True, fastmath=True)
def total_alone(array) -> Any:  # type: ignore[no-untyped-def]
    """Return the sum, by one core."""
    found = 0.0
    for i in range(len(array)):
        found += array[i]
    return found


@njit(cache=True, nogil=True, fastmath=True, parallel=True)
def total_together(array) -> Any:  # type: ignore[no-untyped-def]
    """Return the sum, by all threads."""
    found = 0.0
    for i in prange(len(array)):
        found += array[i]
    return found
