"""The skeleton of a tree, its headings without papers: TaxoBench, section 3.2.

All take the predicted and the gold map and an encoder, the name of a registered one or an encoder.
Unlike the other metrics of headings they count the root, as the paper does. A map without a heading
below its root has no answer: its distance is 1, its other scores are 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from arena.encoders import Encoder
from arena.mindmap._labels import unit_vectors
from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.metrics.heading_soft import cardinalities
from arena.mindmap.tree import MindMap


@MIND_MAP_METRICS.register("normalised_ted")
def normalised_ted(predicted: MindMap, gold: MindMap, encoder: str | Encoder = "static") -> float:
    """Tree edit distance with the cosine as cost of a new label, divided by the number of nodes.

    TED = least sum of costs / (|T*| + |T|), TaxoBench, equation 5: an insertion and a deletion
    cost 1, to put one label for another costs 1 - max(0, cosine), and 0 if they are equal. Ordered
    trees; Zhang and Shasha's algorithm. In [0, 1]: 0 for equal maps.
    """
    if not predicted.size:
        return 1.0
    from arena.mindmap._zhang_shasha import edit_distance

    a, b = MindMap("", (predicted,)), MindMap("", (gold,))  # so that the roots are nodes, too
    distance = edit_distance(a, b, lambda: _costs(a.labels(), b.labels(), encoder))
    return distance / (a.size + b.size)


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
