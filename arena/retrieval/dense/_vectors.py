"""Vectors on disk: float16 rows in one ``.npy`` file, appended while it is built."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena._internal.arrays import load_array
from arena.errors import CorpusError, DataError, clip

VECTORS = "vectors.npy"
DOCUMENTS = "documents.npy"
MAX_DIMENSION = 65_536

_HEADER = 128


def normalised(vectors: NDArray[np.float32]) -> NDArray[np.float16]:
    """Return the rows scaled to length 1 and rounded to float16; zero rows stay zero.

    Args:
        vectors: shape (n, dimension).

    Raises:
        DataError: if a component is no finite number.
    """
    exact = np.asarray(vectors, np.float64)
    if not np.isfinite(exact).all():
        raise DataError("the encoder returned a vector that holds NaN or an infinity.")
    # Added up from left to right, so that neither the processor nor the neighbours show.
    lengths = np.sqrt(np.add.accumulate(exact * exact, axis=1)[:, -1])
    lengths[lengths == 0] = 1.0
    return (exact / lengths[:, None]).astype(np.float16)


def error_bound(dimension: int) -> float:
    """Return how far a float32 score can be from the exact one, in any order of summation.

    The products of float16 values are exact in float32, so only the additions round: the error is
    at most g * sum |q_i d_i| with g = (n - 1) u / (1 - (n - 1) u), u = 2^-24 (Higham, Accuracy
    and Stability of Numerical Algorithms, 2002, section 4.2), and the sum is at most the product
    of the lengths (Cauchy-Schwarz), which rounding to float16 leaves below 1.001. One per cent
    on top covers both up to `MAX_DIMENSION`.
    """
    return 1.01 * dimension * 2.0**-24


class VectorWriter:
    """Append rows to a two-dimensional ``.npy`` file of a size that is known beforehand.

    Until the last row is there the file is shorter than its header says, and does not open.

    Args:
        path: File to write; an old one keeps its first `done` rows.
        shape: Final shape, (rows, columns).
        done: Number of rows that are there already.
    """

    def __init__(self, path: Path, shape: tuple[int, int], done: int) -> None:
        self._columns = shape[1]
        if not done:
            path.write_bytes(b"")
        self._file = path.open("r+b")
        description = {"descr": "<f2", "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, description)
        if self._file.tell() != _HEADER:
            raise AssertionError(f"numpy wrote a header of {self._file.tell()} bytes")
        self._file.truncate(_HEADER + done * self._columns * 2)
        self._file.seek(0, os.SEEK_END)

    def append(self, rows: NDArray[np.float16]) -> None:
        """Add rows and wait until they are on the disk."""
        self._file.write(np.ascontiguousarray(rows, "<f2").data)
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> VectorWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: object, trace: TracebackType | None
    ) -> None:
        self._file.close()


def has_rows(path: Path, rows: int, columns: int) -> bool:
    """Return whether a file that `VectorWriter` wrote holds at least so many rows."""
    return path.is_file() and path.stat().st_size >= _HEADER + rows * columns * 2


def load_vectors(directory: Path, dimension: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the vectors, shape (rows, dimension), and the document number of each row.

    Both are memory-mapped; nothing is read yet.

    Raises:
        CorpusError: if a file is missing, cut off, or does not fit the other.
    """
    arrays = []
    for name in (VECTORS, DOCUMENTS):
        if not (directory / name).is_file():
            raise CorpusError(f"{str(directory / name)!r} is missing. Build the index again.")
        arrays.append(load_array(directory / name))
    vectors, documents = arrays
    if (
        vectors.dtype != np.float16
        or vectors.ndim != 2
        or not vectors.flags.c_contiguous
        or documents.shape != vectors.shape[:1]
        or documents.dtype != np.uint32
    ):
        raise CorpusError(
            f"{str(directory)!r} is damaged: {VECTORS} is {vectors.dtype} {vectors.shape}, "
            f"{DOCUMENTS} is {documents.dtype} {documents.shape}. Build the index again."
        )
    if vectors.shape[1] != dimension:
        raise CorpusError(
            f"{str(directory)!r} holds vectors of {vectors.shape[1]} dimensions, its encoder.json "
            f"says {clip(dimension)}. Build the index again."
        )
    return vectors, documents
