"""Leaf recall: the papers of the gold map that are filed."""

from __future__ import annotations

from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.metrics._filing import overlap
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("leaf_recall")
def leaf_recall(predicted: MindMap, gold: MindMap) -> float | None:
    """Share of the gold map's papers that the predicted map files anywhere.

    Recall = |L(T*) ∩ L(T)| / |L(T*)|, TaxoBench, equation 1. In [0, 1]; None if the gold map
    files no paper. A paper counts once, however often it is filed.

    Example:
        >>> gold = MindMap("", (MindMap("x", papers=("p1", "p2")), MindMap("y", papers=("p3",))))
        >>> leaf_recall(MindMap("", papers=("p3", "p9")), gold)  # 1 of 3
        0.3333333333333333
    """
    papers = gold.all_papers()
    return overlap(predicted, gold) / len(papers) if papers else None
