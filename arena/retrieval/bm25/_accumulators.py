"""Score arrays to work in."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from arena.retrieval.bm25 import _kernel


class Accumulators:
    """Score arrays to work in, one for each search that runs at the same time.

    Between searches they are all zero.
    """

    def __init__(self) -> None:
        self._free: list[NDArray[np.float64]] = []
        self._lock = threading.Lock()

    @contextmanager
    def borrow(self) -> Iterator[NDArray[np.float64]]:
        """Lend an array of zeros; one that an error left dirty is not taken back."""
        with self._lock:
            array = self._free.pop() if self._free else None
        if array is None:
            array = np.zeros(_kernel.BLOCK)
        yield array
        with self._lock:
            self._free.append(array)
