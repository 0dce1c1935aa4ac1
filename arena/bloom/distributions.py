"""How alike two distributions are (DS, Bloom-Eval, appendix A.1)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np


def distribution_similarity(expert: Sequence[float], generated: Sequence[float]) -> float | None:
    """Return DS of two vectors of counts, in [0, 1]; 1 for the same shares.

    The mean of 1 - JSD/ln 2, 1 - Hellinger distance and 1 - total variation of the shares,
    equations 1 and 2.

    Args:
        expert: Counts of the items in the experts' survey.
        generated: Counts of the same items, in the same order, in the generated survey.

    Returns:
        None if a side counts nothing.

    >>> distribution_similarity([1, 2], [2, 4]), distribution_similarity([1, 0], [0, 5])
    (1.0, 0.0)
    """
    if not sum(expert) or not sum(generated):
        return None
    p, q = (np.array(counts, dtype=float) / sum(counts) for counts in (expert, generated))
    middle = (p + q) / 2
    sides = (share[share > 0] * np.log(share[share > 0] / middle[share > 0]) for share in (p, q))
    divergence = sum(float(side.sum()) for side in sides) / 2
    hellinger = math.sqrt(float(((np.sqrt(p) - np.sqrt(q)) ** 2).sum()) / 2)
    variation = float(np.abs(p - q).sum()) / 2
    likeness = 1 - (divergence / math.log(2) + hellinger + variation) / 3
    return min(1.0, max(0.0, likeness))
