"""The values of a posting by its code, for the average lengths that were asked for last."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arena._internal.arrays import load_array

_BYTES = 64_000_000  # of a table
_ROWS = 4096  # at most, where there are few pairs


class Values:
    """tf / (tf + norm) of every pair of frequency and length, one row for each average length.

    A row is written once, before anyone is told of it. When there is no room left, a new table is
    begun; who still works with the old one keeps it.
    """

    def __init__(self, directory: Path, k1: float, b: float) -> None:
        self._tfs, self._lengths = (
            load_array(directory / f"pair_{name}.npy").astype(np.float64)
            for name in ("tfs", "lengths")
        )
        self._k1, self._b = k1, b
        self.room = max(1, min(_ROWS, _BYTES // max(1, self._tfs.nbytes)))
        self._lock = threading.Lock()
        self._begin()

    def rows(self, averages: Sequence[float]) -> tuple[NDArray[np.float64], list[int]]:
        """Return a table, and the row of each of at most `room` averages."""
        with self._lock:
            missing = dict.fromkeys(a for a in averages if a not in self._known)
            if not missing:
                return self._table, [self._known[average] for average in averages]
            if self._used + len(missing) > self.room:
                self._begin()
                missing = dict.fromkeys(averages)
            table, known = self._table, self._known
            new = dict(zip(missing, range(self._used, self.room), strict=False))
            self._used += len(new)
        for average, row in new.items():
            # An average of 0 comes with no postings to read.
            norms = self._k1 * (1.0 - self._b + self._b * self._lengths / (average or 1.0))
            np.divide(self._tfs, self._tfs + norms, out=table[row])
        with self._lock:
            known.update(new)
        return table, [new[a] if a in new else known[a] for a in averages]

    def _begin(self) -> None:
        # Memory that is not written to takes none.
        self._table = np.empty((self.room, len(self._tfs)))
        self._known: dict[float, int] = {}
        self._used = 0
