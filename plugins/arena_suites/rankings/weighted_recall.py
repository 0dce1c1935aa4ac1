"""Weighted recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.metrics import ScoreContext, checked, metric


@metric("weighted_recall", "ranking")
def weighted_recall(
    ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext
) -> float:
    """Gain of the gold papers among the first `k`, over the gain of all gold papers, in [0, 1].

    Source: SAGE (arXiv:2602.05975), open-ended questions, whose paper has "decreasing weights" for
    ``most_relevant`` and ``relevant`` papers; 2 and 1, as here, are those of AI2's evaluation.

    One paper of gain 2, out of 2 + 1 + 1.

    >>> weighted_recall(["a", "x"], {"a": 2, "b": 1, "c": 1})
    0.5
    """
    top, gold = checked(ranking, gains, context)
    return sum(gold.get(paper, 0) for paper in top) / sum(gold.values())
