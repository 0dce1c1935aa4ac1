"""Soft cardinality: how many different things a set of labels names."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from arena.encoders import Encoder
from arena.errors import DataError
from arena.mindmap._labels import unit_vectors

# Cosines are rounded to multiples of 2^-38: the sum of up to 2^15 of them, none above 1, is exact.
_GRID = float(1 << 38)
_MOST = 1 << 15
_ROWS = 512  # of the matrix of cosines at a time, so that it is never in memory as a whole


def cardinality(labels: Collection[str], encoder: str | Encoder, clip: bool = True) -> float:
    """Return the soft cardinality of a set of labels.

    Cardinality(S) = sum over i of 1 / (sum over j of sim(S_i, S_j)), sim = max(0, cosine), and
    sim(S_i, S_i) = 1 also for a label whose vector is zero. n labels that are orthogonal count n,
    n labels with the same vector count 1. With ``clip`` it lies in [1, n] for n > 0; for no label
    it is 0.

    Source: Fränti and Mariescu-Istodor, Soft precision and recall, Pattern Recognition Letters
    167, 2023; as in ResearchArena (arXiv:2406.10291), section 5.

    Args:
        labels: Repeated ones count once, blank ones do not count.
        encoder: The name of a registered encoder, or an encoder.
        clip: Whether negative cosines count as 0. Without that a cardinality can be any number:
            two labels at cosine -0.99 have one of 200.

    Raises:
        DataError: More than 32,768 labels; or, without ``clip``, a label whose similarities sum
            to 0.
    """
    return cardinalities(labels, (), encoder, clip)[0]


def cardinalities(
    first: Collection[str], second: Collection[str], encoder: str | Encoder, clip: bool = True
) -> tuple[float, float, float]:
    """Return the soft cardinalities of two sets of labels and of what they share.

    The last is Cardinality(A) + Cardinality(B) - Cardinality(A u B), with ``clip`` at least 0.
    Args and errors are those of `cardinality`. Neither the order of the labels nor the machine
    shows in the last digit.
    """
    a, b = ({label for label in labels if label.strip()} for labels in (first, second))
    labels = sorted(a | b)
    if len(labels) > _MOST:
        raise DataError(f"{len(labels):,} labels are too many to compare: at most {_MOST:,}.")
    if not labels:
        return 0.0, 0.0, 0.0
    members = np.array([[label in a, label in b, True] for label in labels], np.float64)
    sums = _sums(unit_vectors(labels, encoder), members, clip)
    ours, theirs, union = (_total(sums[inside > 0, i]) for i, inside in enumerate(members.T))
    shared = math.fsum((ours, theirs, -union))
    return ours, theirs, max(0.0, shared) if clip else shared  # its three parts are rounded


def _sums(
    vectors: NDArray[np.float64], members: NDArray[np.float64], clip: bool
) -> NDArray[np.float64]:
    """Return each label's summed similarity to the members of each set, shape (labels, sets)."""
    sums = np.empty(members.shape)
    for low in range(0, len(vectors), _ROWS):
        rows = np.arange(low, min(low + _ROWS, len(vectors)))
        cosines = np.clip(vectors[rows] @ vectors.T, 0.0 if clip else -1.0, 1.0)
        cosines[rows - low, rows] = 1.0
        sums[rows] = np.rint(cosines * _GRID) @ members / _GRID
    return sums


def _total(sums: NDArray[np.float64]) -> float:
    if not sums.all():
        raise DataError(
            "without clip, the similarities of a label sum to 0, and the cardinality is infinite: "
            "use clip=True."
        )
    return math.fsum(1.0 / sums)
