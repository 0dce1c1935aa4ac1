"""Vectors on disk: float16 rows in one ``.npy`` file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena._internal.arrays import damaged, load_array
from arena.errors import DataError, clip

VECTORS = "vectors.npy"
DOCUMENTS = "documents.npy"
MAX_DIMENSION = 65_536


def normalised(vectors: NDArray[np.float32]) -> NDArray[np.float16]:
    """Return rows, shape (n, dimension), of length 1 and rounded to float16; zero stays zero."""
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


def load_vectors(directory: Path, dimension: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the vectors, shape (rows, dimension), and the document number of each row, mapped."""
    documents = load_array(directory / DOCUMENTS, np.uint32)
    vectors = load_array(directory / VECTORS)
    shape = (len(documents), dimension)
    fits = vectors.dtype == np.float16 and vectors.shape == shape
    if not fits or not vectors.flags.c_contiguous:
        raise damaged(
            directory / VECTORS,
            f"it holds {vectors.dtype} of shape {vectors.shape}, {DOCUMENTS} and encoder.json say "
            f"float16 of {clip(shape)}",
        )
    return vectors, documents
