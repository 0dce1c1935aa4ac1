"""A metric of rankings of which less is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.metrics import ScoreContext, checked, metric


@metric("noise", "ranking", lower_is_better=True)
def noise(ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext) -> float:
    """Share of the first `k` that are no gold, from 0 to 1; 1 for an empty ranking."""
    top, gold = checked(ranking, gains, context)
    return sum(paper not in gold for paper in top) / len(top) if top else 1.0
