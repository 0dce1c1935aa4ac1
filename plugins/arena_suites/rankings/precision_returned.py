"""Precision over the papers that were returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.metrics import ScoreContext, checked, metric


@metric("precision_returned", "ranking")
def precision_returned(
    ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext
) -> float:
    """Share of gold among the first `k` ids, or among all if there are fewer, in [0, 1].

    Unlike `precision` it does not count a place left empty as a miss; an empty ranking scores 0.

    Source: ScholarQuest (arXiv:2606.20235), P@50 of its leaderboard.

    >>> precision_returned(["a", "x"], {"a": 1, "b": 1}, k=50)
    0.5
    """
    top, gold = checked(ranking, gains, context)
    return len(gold.keys() & top) / len(top) if top else 0.0
