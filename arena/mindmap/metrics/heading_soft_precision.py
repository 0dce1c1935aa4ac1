"""Heading soft precision: how much of a mind-map's headings are in the survey's own."""

from __future__ import annotations

from arena.encoders import Encoder
from arena.mindmap._cardinality import cardinalities
from arena.mindmap._labels import compared
from arena.mindmap._registry import MIND_MAP_METRICS
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("heading_soft_precision")
def heading_soft_precision(
    predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static", *, clip: bool = True
) -> float:
    """Soft overlap of the labels, relative to the predicted map's.

    Precision = (c(P) + c(G) - c(P u G)) / c(P); sets, cardinality, range [0, infinity) and source
    are those of `heading_soft_recall`. The gold map itself scores exactly 1, an empty prediction
    0.

    Args:
        predicted: The map that was made; its root's label does not count.
        gold: The survey's own.
        encoder: The name of a registered encoder, or an encoder.
        clip: Whether negative cosines count as 0. Without that any number can come out.

    Raises:
        DataError: The gold map has no label below its root; without ``clip``, a cardinality is
            infinite.
        UnknownNameError: There is no such encoder.

    P = {a, b}, G = {a}, a and b orthogonal: c(P) = 2, c(G) = 1, c(P u G) = 2, so (2 + 1 - 2) / 2.
    """
    ours, theirs = compared(predicted, gold)
    if not ours:
        return 0.0
    found = cardinalities(ours, theirs, encoder, clip)
    return found.share(found.first)
