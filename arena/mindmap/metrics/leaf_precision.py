"""Leaf precision: the filed papers that are the gold map's."""

from __future__ import annotations

from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.metrics._filing import overlap
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("leaf_precision")
def leaf_precision(predicted: MindMap, gold: MindMap) -> float | None:
    """Share of the predicted map's papers that the gold map files anywhere.

    Precision = |L(T*) ∩ L(T)| / |L(T)|, the counterpart of TaxoBench's equation 1. In [0, 1];
    0 if the predicted map files no paper, None if the gold map files none.
    """
    papers = predicted.all_papers()
    if not gold.all_papers():
        return None
    return overlap(predicted, gold) / len(papers) if papers else 0.0
