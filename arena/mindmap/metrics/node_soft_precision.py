"""Soft precision of the headings, the root among them."""

from __future__ import annotations

from arena.encoders import Encoder
from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.metrics._node_soft import shared_cardinality
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("node_soft_precision")
def node_soft_precision(
    predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static"
) -> float:
    """Soft overlap of the headings, relative to the predicted map's: TaxoBench, equation 8.

    NSP = (c(T*) + c(T) - c(T* u T)) / c(T); see `node_soft_recall`.
    """
    ours, _, shared = shared_cardinality(predicted, gold, encoder)
    return shared / ours
