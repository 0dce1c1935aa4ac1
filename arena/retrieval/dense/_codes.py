"""8-bit codes of the vectors, of which a search reads half the bytes, and what they leave open.

A row d is stored as a scale s and codes c, whole numbers from -127 to 127, such that s c is nearly
d, with r >= |d - s c|, the residual. A query q becomes a step t times int16 numbers p. Then
s t (p . c) is nearly the score, and by Cauchy and Schwarz

    |q . d - s t (p . c)| = |q . (d - s c) + (q - t p) . s c| <= |q| r + |q - t p| |s c|.

Here |s c| <= 2 |d|, as a component below s / 2 has the code 0 and any other moves by less than
itself; and |d| is below 1.002 (`normalised` rounds a length of 1), for up to 65,536 components n.
The product p . c is exact: t is at least sum |q_i| / 2^24, so that no sum of |p_i c_i| exceeds
127 (2^24 + n / 2 + 2) < 2^31.

What rounds: a component of d - s c in float64, once (s c has 7 + 24 bits), and the length of n of
them by less than 2^-36 of itself; it is stored 2^-30 longer, and rounded up to float32. A score is
put together in float32 from p . c, s t and |q| r by five operations with results below 3.1, and so
to within 5 * 3.1 * 2^-24 and products of such errors, below 2^-18 (Higham 2002, section 2.2).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.kit.arrays import ArrayWriter
from arena.retrieval.dense._vectors import load_matrix

CODES = "codes.npy"
BOUNDS = "bounds.npy"
LANES = 64
"""Components that are multiplied at once; zeros fill a row of codes up to so many."""

_BLOCK_ROWS = 4096


class Codes(NamedTuple):
    """The codes of rows, int8 of shape (rows, components filled up), and what belongs to them."""

    codes: NDArray[np.int8]
    bounds: NDArray[np.float32]  # shape (rows, 2): scale and residual


def encode_rows(vectors: NDArray[np.float16]) -> Codes:
    """Return the codes of rows of length 1 or 0; the same bytes on any machine."""
    exact = vectors.astype(np.float64)
    scales = (np.abs(exact).max(axis=1) / 127).astype(np.float32)
    scales[scales == 0] = 1.0
    wide = scales.astype(np.float64)[:, None]
    codes = np.rint(exact / wide)
    lost = exact - codes * wide
    # Added up from left to right, so that the processor does not show.
    residuals = np.sqrt(np.add.accumulate(lost * lost, axis=1)[:, -1]) * (1 + 2.0**-30)
    up = np.nextafter(residuals.astype(np.float32), np.float32(np.inf))
    return Codes(_filled_up(codes, np.int8), np.stack([scales, up], axis=1))


def shorten(query: NDArray[np.float64]) -> tuple[NDArray[np.int16], float, float, float]:
    """Return a query of length 1 as whole numbers, their step, and how far off a score may be.

    That is the third value times the residual of a row, and the fourth besides.
    """
    size = np.abs(query)
    step = float(np.float32(max(size.max() / 32767, size.sum() / 2**24)))
    numbers = np.rint(query / step)
    lost, length = np.linalg.norm(query - numbers * step), np.linalg.norm(query)
    slack = 2.01 * float(lost) + 2.0**-18
    return _filled_up(numbers[None], np.int16)[0], step, 1.000001 * float(length), slack


def _filled_up(rows: NDArray[np.float64], dtype: type) -> NDArray[Any]:
    filled: NDArray[Any] = np.zeros((len(rows), columns_of(rows.shape[1])), dtype)
    filled[:, : rows.shape[1]] = rows
    return filled


def columns_of(dimension: int) -> int:
    """Return how many codes a row has."""
    return -(-dimension // LANES) * LANES


def write_codes(directory: Path, vectors: NDArray[np.float16]) -> None:
    """Write the codes of all vectors, some rows at a time."""
    columns = columns_of(vectors.shape[1])
    with (
        ArrayWriter(directory / CODES, np.int8, columns=columns) as codes,
        ArrayWriter(directory / BOUNDS, np.float32, columns=2) as bounds,
    ):
        for low in range(0, len(vectors), _BLOCK_ROWS):
            block = encode_rows(vectors[low : low + _BLOCK_ROWS])
            codes.append(block.codes)
            bounds.append(block.bounds)


def load_codes(directory: Path, shape: tuple[int, ...]) -> Codes:
    """Return the codes of vectors of that shape, mapped."""
    codes = load_matrix(directory / CODES, np.int8, (shape[0], columns_of(shape[1])))
    return Codes(codes, load_matrix(directory / BOUNDS, np.float32, (shape[0], 2)))
