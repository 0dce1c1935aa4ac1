"""Soft overlap of the headings, the root among them: TaxoBench, section 3.2.

All take the predicted and the gold map and an encoder, the name of a registered one or an encoder.
A map without a heading below its root has no answer and scores 0.
"""

from __future__ import annotations

from arena.encoders import Encoder
from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.metrics.heading_soft import cardinalities
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("node_soft_recall")
def node_soft_recall(predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static") -> float:
    """Soft overlap of the headings, relative to the gold map's: TaxoBench, equation 7.

    NSR = (c(T*) + c(T) - c(T* u T)) / c(T*), with the soft cardinality c of equation 6 over the
    distinct labels, negative cosines counted as 0 (`arena.mindmap.cardinality`). At least 0, 1 for
    the gold map; can exceed 1.
    """
    _, theirs, shared = _shared(predicted, gold, encoder)
    return shared / theirs


@MIND_MAP_METRICS.register("node_soft_precision")
def node_soft_precision(
    predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static"
) -> float:
    """Soft overlap of the headings, relative to the predicted map's: TaxoBench, equation 8.

    NSP = (c(T*) + c(T) - c(T* u T)) / c(T); see `node_soft_recall`.
    """
    ours, _, shared = _shared(predicted, gold, encoder)
    return shared / ours


@MIND_MAP_METRICS.register("node_soft_f1")
def node_soft_f1(predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static") -> float:
    """Harmonic mean of node soft recall and precision: TaxoBench, equation 9.

    At least 0, 1 for the gold map. It can exceed 1 by a little: a label between two others makes a
    union count less than its parts.
    """
    ours, theirs, shared = _shared(predicted, gold, encoder)
    return 2 * shared / (ours + theirs)


def _shared(
    predicted: MindMap, gold: MindMap, encoder: str | Encoder
) -> tuple[float, float, float]:
    """Return c(T), c(T*) and their overlap; 1, 1 and 0 without an answer."""
    if not predicted.size:
        return 1.0, 1.0, 0.0
    ours, theirs = ([node.label for node in tree.nodes()] for tree in (predicted, gold))
    return cardinalities(ours, theirs, encoder)
