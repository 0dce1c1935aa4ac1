"""Intersection over union."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.metrics import ScoreContext, checked, metric


@metric("iou", "ranking")
def iou(ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext) -> float:
    """Intersection of the first `k` ids and the gold, over their union, in [0, 1].

    Source: AutoResearchBench (arXiv:2604.25256), wide questions. A topic without gold, for which
    the released code gives an empty answer 1, has no metric of rankings here.

    Two of three ids are gold, and the gold has four: 2 / (3 + 4 - 2).

    >>> iou(["a", "x", "b"], {"a": 2, "b": 1, "c": 1, "d": 1})
    0.4
    """
    top, gold = checked(ranking, gains, context)
    hits = len(gold.keys() & top)
    return hits / (len(top) + len(gold) - hits)
