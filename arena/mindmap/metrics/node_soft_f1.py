"""Soft F1 of the headings, the root among them."""

from __future__ import annotations

from arena.encoders import Encoder
from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.metrics._node_soft import shared_cardinality
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("node_soft_f1")
def node_soft_f1(predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static") -> float:
    """Harmonic mean of node soft recall and precision: TaxoBench, equation 9.

    At least 0, 1 for the gold map. It can exceed 1 by a little: a label between two others makes a
    union count less than its parts.
    """
    ours, theirs, shared = shared_cardinality(predicted, gold, encoder)
    return 2 * shared / (ours + theirs)
