"""Normalised tree semantic distance: in [0, 1], whatever the sizes of the maps."""

from __future__ import annotations

from arena.encoders import Encoder
from arena.mindmap._alike import alike
from arena.mindmap._edit_distance import edit_distance
from arena.mindmap._registry import MIND_MAP_METRICS
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("normalised_tree_semantic_distance")
def normalised_tree_semantic_distance(
    predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static"
) -> float:
    """Tree semantic distance divided by the number of nodes of both maps, without the roots.

    `tree_semantic_distance` / (|P| + |G|). In [0, 1]: 0 for equal maps, 1 for an empty
    prediction. 0 for two maps without nodes.

    Args:
        predicted: The map that was made.
        gold: The survey's own.
        encoder: The name of a registered encoder, or an encoder.

    Raises:
        DataError: The maps are too large for an edit distance (more than 4,194,304 pairs of nodes,
            or more than 2^31 steps).
        UnknownNameError: There is no such encoder.

    If x is to be deleted from a map of 3 nodes, and the other 2 mean the same as the gold map's 2,
    the distance is 1 / (3 + 2).
    """
    distance = edit_distance(predicted, gold, lambda: alike(predicted, gold, encoder))
    nodes = predicted.size + gold.size
    return distance / nodes if nodes else 0.0
