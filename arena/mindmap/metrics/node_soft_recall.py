"""Soft recall of the headings, the root among them."""

from __future__ import annotations

from arena.encoders import Encoder
from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.metrics._node_soft import shared_cardinality
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("node_soft_recall")
def node_soft_recall(predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static") -> float:
    """Soft overlap of the headings, relative to the gold map's: TaxoBench, equation 7.

    NSR = (c(T*) + c(T) - c(T* u T)) / c(T*), with the soft cardinality c of equation 6 over the
    distinct labels, negative cosines counted as 0 (`arena.mindmap.cardinality`). At least 0, 1 for
    the gold map; can exceed 1.
    """
    _, theirs, shared = shared_cardinality(predicted, gold, encoder)
    return shared / theirs
