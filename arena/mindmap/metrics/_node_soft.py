"""Soft overlap of the headings, the root among them: TaxoBench, section 3.2.

All take the predicted and the gold map and an encoder, the name of a registered one or an encoder.
A map without a heading below its root has no answer and scores 0.
"""

from __future__ import annotations

from arena.encoders import Encoder
from arena.mindmap.metrics.heading_soft import cardinalities
from arena.mindmap.tree import MindMap


def shared_cardinality(
    predicted: MindMap, gold: MindMap, encoder: str | Encoder
) -> tuple[float, float, float]:
    """Return c(T), c(T*) and their overlap; 1, 1 and 0 without an answer."""
    if not predicted.size:
        return 1.0, 1.0, 0.0
    ours, theirs = ([node.label for node in tree.nodes()] for tree in (predicted, gold))
    return cardinalities(ours, theirs, encoder)
