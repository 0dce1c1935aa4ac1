"""Success."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.metrics.base import METRICS, checked


@METRICS.register("hit_rate")
@METRICS.register("success")
def success(ranking: Sequence[str], gains: Mapping[str, int], k: int | None = None) -> float:
    """Whether a gold id is among the first `k`: 1 or 0.

    Source: the measure ``success`` of trec_eval; equals ranx's ``hit_rate``, which is another name
    of it here.

    Args:
        ranking: Distinct ids, best first.
        gains: Gold id to integer gain; a gain of at least 1 is relevant.
        k: Cutoff of at least 1; None for the whole ranking.

    Raises:
        DataError: No gold, a repeated id, or a bad cutoff.

    >>> success(["x", "a"], {"a": 1}, k=1), success(["x", "a"], {"a": 1}, k=2)
    (0.0, 1.0)
    """
    top, gold = checked(ranking, gains, k)
    return float(any(document in gold for document in top))
