"""Success."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from arena.metrics.base import METRICS, ScoreContext, checked, metric


@metric("success", "ranking")
def success(ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext) -> float:
    """Whether a gold id is among the first `k`: 1 or 0.

    Source: the measure ``success`` of trec_eval; equals ranx's ``hit_rate``, which is another name
    of it here.

    >>> success(["x", "a"], {"a": 1}, k=1), success(["x", "a"], {"a": 1}, k=2)
    (0.0, 1.0)
    """
    top, gold = checked(ranking, gains, context)
    return float(any(document in gold for document in top))


METRICS.register("hit_rate")(replace(success, name="hit_rate"))
