"""Homogeneity of how papers are filed."""

from __future__ import annotations

from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.metrics._filing import agreement
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("homogeneity")
def homogeneity(predicted: MindMap, gold: MindMap) -> float | None:
    """Whether each predicted group holds papers of one gold group.

    h = 1 - H(U|V) / H(U), TaxoBench, equation 3, with the gold groups U and the predicted ones V;
    scikit-learn's. In [0, 1]; 1 if there is one gold group. None if the gold map files no paper.
    """
    from sklearn.metrics import homogeneity_score

    return agreement(predicted, gold, homogeneity_score)
