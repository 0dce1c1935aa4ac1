"""Adjusted Rand index of how papers are filed."""

from __future__ import annotations

from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.metrics._filing import agreement
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("ari")
def ari(predicted: MindMap, gold: MindMap) -> float | None:
    """Adjusted Rand index of the two ways in which the gold map's papers are filed.

    ARI = (RI - E[RI]) / (max(RI) - E[RI]), TaxoBench, equation 2; scikit-learn's. In [-0.5, 1]: 1
    for the same groups, about 0 by chance. None if the gold map files no paper.

    Example:
        >>> gold = MindMap("", (MindMap("x", papers=("a", "b")), MindMap("y", papers=("c", "d"))))
        >>> ari(MindMap("", papers=("a", "b", "c", "d")), gold)
        0.0
    """
    from sklearn.metrics import adjusted_rand_score

    return agreement(predicted, gold, adjusted_rand_score)
