"""Completeness of how papers are filed."""

from __future__ import annotations

from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.metrics._filing import agreement
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("completeness")
def completeness(predicted: MindMap, gold: MindMap) -> float | None:
    """Whether the papers of each gold group are in one predicted group.

    c = 1 - H(V|U) / H(V), TaxoBench, equation 3; scikit-learn's. In [0, 1]; 1 if the predicted map
    files all papers under one node. None if the gold map files no paper.
    """
    from sklearn.metrics import completeness_score

    return agreement(predicted, gold, completeness_score)
