"""V-measure of how papers are filed."""

from __future__ import annotations

from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.metrics._filing import agreement
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("v_measure")
def v_measure(predicted: MindMap, gold: MindMap) -> float | None:
    """Harmonic mean of homogeneity and completeness, 2 h c / (h + c): TaxoBench, equation 4.

    In [0, 1]; None if the gold map files no paper.
    """
    from sklearn.metrics import v_measure_score

    return agreement(predicted, gold, v_measure_score)
