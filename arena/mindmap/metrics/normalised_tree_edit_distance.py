"""Normalised tree edit distance: in [0, 1], whatever the sizes of the maps."""

from __future__ import annotations

from arena.mindmap._edit_distance import edit_distance
from arena.mindmap._registry import MIND_MAP_METRICS
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("normalised_tree_edit_distance")
def normalised_tree_edit_distance(predicted: MindMap, gold: MindMap) -> float:
    """Tree edit distance divided by the number of nodes of both maps, without the roots.

    `tree_edit_distance` / (|P| + |G|). In [0, 1]: 0 for equal maps, 1 for an empty
    prediction. 0 for two maps without nodes.

    Args:
        predicted: The map that was made.
        gold: The survey's own.

    Raises:
        DataError: The maps are too large for an edit distance (more than 4,194,304 pairs of nodes,
            or more than 2^31 steps).

    Example:
        >>> a = MindMap("", (MindMap("x", (MindMap("y"), MindMap("z"))),))
        >>> b = MindMap("", (MindMap("y"), MindMap("w")))
        >>> normalised_tree_edit_distance(a, b)  # 2 of 3 + 2
        0.4
    """
    distance, nodes = edit_distance(predicted, gold), predicted.size + gold.size
    return distance / nodes if nodes else 0.0
