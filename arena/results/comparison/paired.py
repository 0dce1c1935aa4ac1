"""Intervals of means, and paired tests of differences, over clusters of topics."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from arena.kit.lazy import load

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

RESAMPLES = 10_000
"""Samples of the bootstrap."""
PERMUTATIONS = 100_000
"""Random assignments of signs; up to this many they are all enumerated instead."""
TIE = 1e-12
POWER = 0.8
"""Share of the comparisons in which a difference that can be detected is significant."""
_SEED = 20_240_610
_CHUNK = 4096


def bootstrap(
    values: Floats, level: float, clusters: Integers | None = None
) -> list[tuple[float | None, float | None]]:
    """Return percentile intervals of the means of the columns, by resampling whole clusters.

    Every column meets the same resamples, so the interval of a difference of columns is paired.
    Efron and Tibshirani (1993), section 13.3. Where topics share clusters, the percentiles are
    moved outwards as Student's t is from the normal distribution, since clusters are few
    (Hesterberg 2015, The American Statistician 69, "expanded percentile interval").

    Args:
        values: One row per topic, one column per run or pair.
        level: Share of the resampled means inside, in (0, 1).
        clusters: Number of each row's cluster, from 0; by default each row is its own.

    Returns:
        (low, high) of each column; None for fewer than two clusters, which have no spread.
    """
    sums, sizes = _sums(values, clusters)
    n, columns = sums.shape
    if n < 2:
        return [(None, None)] * columns
    random = np.random.default_rng([_SEED, n])
    means = np.empty((RESAMPLES, columns))
    for start in range(0, RESAMPLES, _CHUNK):
        chosen = random.integers(0, n, size=(min(_CHUNK, RESAMPLES - start), n))
        total = sizes[chosen].sum(axis=1)
        for column in range(columns):
            means[start : start + _CHUNK, column] = sums[:, column][chosen].sum(axis=1) / total
    tail = (1 - level) / 2
    if n < len(values):
        # The bootstrap's own spread lacks a factor n / (n - 1).
        tail = NormalDist().cdf(_quantile(tail, n - 1) * math.sqrt(n / (n - 1)))
    ends = np.quantile(means, [tail, 1 - tail], axis=0)
    same = np.ptp(values, axis=0) <= TIE  # what rounding adds is no spread
    return [
        (float(values[0, i]), float(values[0, i])) if same[i] else (float(low), float(high))
        for i, (low, high) in enumerate(ends.T)
    ]


def fisher(differences: Floats, clusters: Integers | None = None) -> list[float]:
    """Return the two-sided p of Fisher's randomization test for each column of differences.

    The null hypothesis is that the two systems are alike, so that the differences of each cluster
    might as well have had the other sign (Smucker, Allan and Carterette, CIKM 2007). Up to 16
    clusters all assignments of signs are counted, and p is exact; above, `PERMUTATIONS` random ones
    and the observed one, which keeps p above 0 (Phipson and Smyth, 2010).

    Args:
        differences: One row per topic, one column per pair.
        clusters: As `bootstrap` takes them.
    """
    # Differences that are equal up to rounding must not count as smaller ones.
    total = np.abs(differences.sum(axis=0)) - TIE * np.maximum(np.abs(differences).sum(axis=0), TIE)
    differences = _sums(differences, clusters)[0]
    n, columns = differences.shape
    reached, count = np.zeros(columns, np.int64), 0
    for signs in _signs(n):
        # Not `@`: for so small a product the threads of BLAS cost more than they gain.
        sums = np.einsum("ij,jk->ik", signs, differences)
        reached += (np.abs(sums) >= total).sum(axis=0)
        count += len(signs)
    extra = 0 if 2**n <= PERMUTATIONS else 1
    return [float(k + extra) / (count + extra) for k in reached]


def student(differences: Floats, clusters: Integers | None = None) -> list[float | None]:
    """Return the two-sided p of Student's paired t for each column of differences.

    With `clusters`, as `bootstrap` takes them, the variance of the mean is that between clusters,
    with one degree of freedom fewer than there are (Liang and Zeger, 1986). None where t is not
    defined: one cluster, or differences that are all the same but not 0. All zero is p = 1.
    """
    stats = load("scipy.stats", "the t-test")
    probabilities: list[float | None] = []
    n = len(differences) if clusters is None else len(np.unique(clusters))
    for column, error in zip(differences.T, errors(differences, clusters), strict=True):
        if np.abs(column).max() <= TIE:
            probabilities.append(1.0)
        elif n < 2 or np.ptp(column) <= TIE or error * len(column) <= TIE:
            probabilities.append(None)
        else:
            probabilities.append(float(2 * stats.t.sf(abs(column.mean()) / error, n - 1)))
    return probabilities


def errors(values: Floats, clusters: Integers | None = None) -> Floats:
    """Return the standard error of the mean of each column, by the variance between clusters.

    It is 0 for fewer than two clusters. `values` and `clusters` are as `bootstrap` takes them.
    """
    sums, sizes = _sums(values, clusters)
    spread = np.square(sums - sizes[:, None] * values.mean(axis=0)).sum(axis=0)
    found: Floats = np.sqrt(len(sizes) / max(1, len(sizes) - 1) * spread) / len(values)
    return found


def detectable(error: float, clusters: float, alpha: float, power: float = POWER) -> float:
    """Return the true difference that a paired t-test finds with this power.

    Args:
        error: Standard error of the mean difference.
        clusters: How many clusters there are; one more than the degrees of freedom.
        alpha: Level of significance of the two-sided test.
        power: Chance that the test finds it, above `alpha`.
    """
    freedom = clusters - 1
    return error * (_quantile(power, freedom) - _quantile(alpha / 2, freedom))


def _quantile(p: float, freedom: float) -> float:
    """Return a quantile of Student's t; Abramowitz and Stegun 26.7.5, 1 % off at 6 degrees."""
    z = NormalDist().inv_cdf(p)
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)


def _sums(values: Floats, clusters: Integers | None) -> tuple[Floats, Floats]:
    """Return the sums of the rows of each cluster, and its number of rows."""
    if clusters is None:
        return values, np.ones(len(values))
    sizes = np.bincount(clusters).astype(np.float64)
    sums = np.zeros((len(sizes), values.shape[1]))
    np.add.at(sums, clusters, values)
    return sums, sizes


def correct(values: Sequence[float | None]) -> list[float | None]:
    """Return p values corrected for their number (Holm, 1979); None stays None, does not count."""
    known = sorted((p, place) for place, p in enumerate(values) if p is not None)
    corrected: list[float | None] = [None] * len(values)
    largest = 0.0
    for rank, (p, place) in enumerate(known):
        # A larger p must not become the smaller one.
        largest = max(largest, p * (len(known) - rank))
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
