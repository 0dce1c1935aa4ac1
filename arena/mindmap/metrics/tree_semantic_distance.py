"""Tree semantic distance: the edit distance to the survey's own map, with headings by meaning."""

from __future__ import annotations

from arena.encoders import Encoder
from arena.mindmap._alike import alike
from arena.mindmap._edit_distance import edit_distance
from arena.mindmap._registry import MIND_MAP_METRICS
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("tree_semantic_distance")
def tree_semantic_distance(
    predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static"
) -> float:
    """Tree edit distance in which a label costs nothing for one of nearly the same meaning.

    As `tree_edit_distance`, but to put one label for another costs 0 if they are equal or the
    cosine of their vectors exceeds 0.8, and else 1. The cosine is taken to six decimals, so that
    a pair at exactly 0.8 costs 1. Never more than `tree_edit_distance`.

    Source: ResearchArena (arXiv:2406.10291), section 5. A whole number, not normalised, as in its
    table 3.

    Args:
        predicted: The map that was made.
        gold: The survey's own.
        encoder: The name of a registered encoder, or an encoder.

    Raises:
        DataError: The maps are too large for an edit distance (more than 4,194,304 pairs of nodes,
            or more than 2^31 steps).
        UnknownNameError: There is no such encoder.

    Example:
        >>> import numpy as np
        >>> class Initials:  # the cosine of two labels is 1 if they begin alike, else 0
        ...     def queries(self, texts):
        ...         return np.array([[float(text[0] == x) for x in "xyz"] for text in texts])
        >>> a = MindMap("", (MindMap("x", (MindMap("y1"), MindMap("z1"))),))
        >>> b = MindMap("", (MindMap("y2"), MindMap("z2")))
        >>> tree_semantic_distance(a, b, Initials())  # delete x, the others are free
        1.0
    """
    return float(edit_distance(predicted, gold, lambda: alike(predicted, gold, encoder)))
