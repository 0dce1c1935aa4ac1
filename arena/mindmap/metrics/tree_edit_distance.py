"""Tree edit distance: how many nodes to insert, delete and relabel to get the survey's own map."""

from __future__ import annotations

from arena.mindmap._edit_distance import edit_distance
from arena.mindmap._registry import MIND_MAP_METRICS
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("tree_edit_distance")
def tree_edit_distance(predicted: MindMap, gold: MindMap) -> float:
    """Least number of insertions, deletions and relabellings between two maps as ordered trees.

    0 is the best; at most the sum of the numbers of nodes, which the roots are not among: both
    maps get the same neutral root in place of their own, because some have none, and the wording
    of a title must not count. To delete a node is to put its children in its place. An empty
    prediction is as far away as the gold map has nodes.

    Source: Zhang and Shasha, Simple fast algorithms for the editing distance between trees and
    related problems, SIAM Journal on Computing 18(6), 1989; ResearchArena (arXiv:2406.10291),
    section 5. A whole number, not normalised, as in its table 3.

    Args:
        predicted: The map that was made.
        gold: The survey's own.

    Raises:
        DataError: The maps are too large for an edit distance (more than 4,194,304 pairs of nodes,
            or more than 2^31 steps).

    Example:
        >>> a = MindMap("", (MindMap("x", (MindMap("y"), MindMap("z"))),))
        >>> b = MindMap("", (MindMap("y"), MindMap("w")))
        >>> tree_edit_distance(a, b)  # delete x, put w for z
        2.0
    """
    return float(edit_distance(predicted, gold))
