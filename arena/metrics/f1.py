"""F1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.metrics.base import METRICS
from arena.metrics.precision import precision
from arena.metrics.recall import recall


@METRICS.register("f1")
def f1(ranking: Sequence[str], gains: Mapping[str, int], k: int | None = None) -> float:
    """Harmonic mean of precision and recall, both at `k`.

    f1@k = 2 * precision@k * recall@k / (precision@k + recall@k), in [0, 1]; 0 if nothing is found.

    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7; equals ranx's ``f1``.

    Args:
        ranking: Distinct ids, best first.
        gains: Gold id to integer gain; a gain of at least 1 is relevant.
        k: Cutoff of at least 1; None for the whole ranking.

    Raises:
        DataError: No gold, a repeated id, or a bad cutoff.

    Precision 1 / 2 and recall 1 / 2:

    >>> f1(["a", "x"], {"a": 2, "b": 1})
    0.5
    """
    p, r = precision(ranking, gains, k), recall(ranking, gains, k)
    return 2 * p * r / (p + r) if p + r else 0.0
