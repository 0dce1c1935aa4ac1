"""Tree edit distance of the headings in which similar labels cost less to change."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arena.encoders import Encoder
from arena.mindmap._labels import unit_vectors
from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("normalised_ted")
def normalised_ted(predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static") -> float:
    """Tree edit distance with the cosine as cost of a new label, divided by the number of nodes.

    TED = least sum of costs / (|T*| + |T|), TaxoBench, equation 5: an insertion and a deletion
    cost 1, to put one label for another costs 1 - max(0, cosine), and 0 if they are equal. Ordered
    trees; Zhang and Shasha's algorithm. The root counts, as in the paper. In [0, 1]: 0 for equal
    maps; 1 for a map without a heading below its root, which is no answer.
    """
    if not predicted.size:
        return 1.0
    from arena.mindmap.edit_distance import edit_distance

    a, b = MindMap("", (predicted,)), MindMap("", (gold,))  # so that the roots are nodes, too
    distance = edit_distance(a, b, lambda: _costs(a.labels(), b.labels(), encoder))
    return distance / (a.size + b.size)


def _costs(rows: list[str], columns: list[str], encoder: str | Encoder) -> NDArray[np.float64]:
    """Return 1 - max(0, cosine) for each pair of labels; blank ones are like their equals alone."""
    costs: NDArray[np.float64] = np.not_equal.outer(
        np.array(rows, object), np.array(columns, object)
    ).astype(float)
    ours, theirs = ([i for i, x in enumerate(labels) if x.strip()] for labels in (rows, columns))
    if ours and theirs:
        vectors = unit_vectors([rows[i] for i in ours] + [columns[i] for i in theirs], encoder)
        cosines = np.clip(vectors[: len(ours)] @ vectors[len(ours) :].T, 0.0, 1.0)
        costs[np.ix_(ours, theirs)] = np.minimum(costs[np.ix_(ours, theirs)], 1.0 - cosines)
    return costs
