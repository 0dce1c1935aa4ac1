"""Intervals and paired tests; the same numbers in every process, whatever its threads.

`scipy.stats.permutation_test` and `bootstrap` draw other random numbers from the same seed, so
every published p and interval beyond 16 surveys would change; Student's t is SciPy's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RESAMPLES = 10_000
"""Samples of the bootstrap."""
PERMUTATIONS = 100_000
"""Random assignments of signs; up to this many they are all enumerated instead."""
TIE = 1e-12
_SEED = 20_240_610
_CHUNK = 4096


def bootstrap(values: Floats, level: float) -> list[tuple[float | None, float | None]]:
    """Return percentile intervals of the means of the columns, by resampling the rows.

    Every column meets the same resamples, so the interval of a difference of columns is paired.
    Efron and Tibshirani (1993), section 13.3.

    Args:
        values: One row per survey, one column per run or pair.
        level: Share of the resampled means inside, in (0, 1).

    Returns:
        (low, high) of each column; None for fewer than two surveys, which have no spread.
    """
    n, columns = values.shape
    if n < 2:
        return [(None, None)] * columns
    random = np.random.default_rng([_SEED, n])
    means = np.empty((RESAMPLES, columns))
    for start in range(0, RESAMPLES, _CHUNK):
        chosen = random.integers(0, n, size=(min(_CHUNK, RESAMPLES - start), n))
        for column in range(columns):
            means[start : start + _CHUNK, column] = values[:, column][chosen].mean(axis=1)
    tail = (1 - level) / 2
    ends = np.quantile(means, [tail, 1 - tail], axis=0)
    same = np.ptp(values, axis=0) <= TIE  # what rounding adds is no spread
    return [
        (float(values[0, i]), float(values[0, i])) if same[i] else (float(low), float(high))
        for i, (low, high) in enumerate(ends.T)
    ]


def fisher(differences: Floats) -> list[float]:
    """Return the two-sided p of Fisher's randomization test for each column of differences.

    The null hypothesis is that the two systems are alike, so that each survey's difference might
    as well have had the other sign (Smucker, Allan and Carterette, CIKM 2007). Up to 16 surveys
    all assignments of signs are counted, and p is exact; above, `PERMUTATIONS` random ones and
    the observed one, which keeps p above 0 (Phipson and Smyth, 2010).

    Args:
        differences: One row per survey, one column per pair.
    """
    n, columns = differences.shape
    # Differences that are equal up to rounding must not count as smaller ones.
    total = np.abs(differences.sum(axis=0)) - TIE * np.maximum(np.abs(differences).sum(axis=0), TIE)
    reached, count = np.zeros(columns, np.int64), 0
    for signs in _signs(n):
        # Not `@`: for so small a product the threads of BLAS cost more than they gain.
        sums = np.einsum("ij,jk->ik", signs, differences)
        reached += (np.abs(sums) >= total).sum(axis=0)
        count += len(signs)
    extra = 0 if 2**n <= PERMUTATIONS else 1
    return [float(k + extra) / (count + extra) for k in reached]


def student(differences: Floats) -> list[float | None]:
    """Return the two-sided p of Student's paired t for each column of differences.

    None where t is not defined: one survey, or differences that are all the same but not 0. All
    zero is p = 1.
    """
    from scipy import stats

    probabilities: list[float | None] = []
    for column in differences.T:
        if np.abs(column).max() <= TIE:
            probabilities.append(1.0)
        elif len(column) < 2 or np.ptp(column) <= TIE:
            probabilities.append(None)
        else:
            probabilities.append(float(stats.ttest_1samp(column, 0.0).pvalue))
    return probabilities


def correct(values: Sequence[float | None], correction: str) -> list[float | None]:
    """Return p values corrected for their number; None stays None and does not count.

    Args:
        values: The p values of all comparisons by one metric.
        correction: ``"holm"`` (Holm, 1979), ``"bonferroni"``, or ``"none"``.
    """
    known = sorted((p, place) for place, p in enumerate(values) if p is not None)
    corrected: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        factor = {"holm": len(known) - rank, "bonferroni": len(known), "none": 1}[correction]
        largest = max(largest, p * factor)  # a larger p must not become the smaller one
        corrected[place] = min(1.0, largest)
    return corrected


def _signs(n: int) -> Iterator[Floats]:
    """Yield rows of n signs, all that there are or `PERMUTATIONS` random ones."""
    if 2**n <= PERMUTATIONS:
        for start in range(0, 2**n, _CHUNK):
            numbers = np.arange(start, min(start + _CHUNK, 2**n))
            yield (1.0 - 2.0 * ((numbers[:, None] >> np.arange(n)) & 1)).astype(np.float64)
        return
    random = np.random.default_rng([_SEED, n])
    for start in range(0, PERMUTATIONS, _CHUNK):
        size = (min(_CHUNK, PERMUTATIONS - start), n)
        yield (1.0 - 2.0 * random.integers(0, 2, size=size, dtype=np.int8)).astype(np.float64)
