"""The metrics of TaxoBench that tasks do not report: of leaves, groups, paths and headings.

The papers of the gold map count. Of the metrics of groups each belongs to the node under which it
is filed, see `arena.mindmap.metrics.filing`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from arena.encoders import Encoder
from arena.metrics import ScoreContext, metric
from arena.mindmap import MindMap
from arena.mindmap.metrics import cosines, unit_vectors
from arena.mindmap.metrics.filing import agreement
from arena.mindmap.metrics.heading_overlap import shared_cardinalities
from arena.mindmap.metrics.tree_distance import edit_distance, equal_labels


@metric("leaf_recall", "map")
def leaf_recall(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float | None:
    """Share of the gold map's papers that the predicted map files anywhere.

    Recall = |L(T*) ∩ L(T)| / |L(T*)|. In [0, 1]; None if the gold map files no paper.

    Paper: equation 1, in Deep Research mode.
    Released: ``recall``, over lists, in which a title filed twice counts twice; titles under
        ``retrieved_papers`` count in place of the tree's.
    Here: distinct papers, wherever they are filed.

    Example:
        >>> gold = MindMap("", (MindMap("x", papers=("p1", "p2")), MindMap("y", papers=("p3",))))
        >>> leaf_recall(MindMap("", papers=("p3", "p9")), gold)  # 1 of 3
        0.3333333333333333
    """
    ours, theirs = set(predicted.all_papers()), set(gold.all_papers())
    return len(ours & theirs) / len(theirs) if theirs else None


@metric("leaf_precision", "map")
def leaf_precision(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float | None:
    """Share of the predicted map's papers that the gold map files anywhere.

    Precision = |L(T*) ∩ L(T)| / |L(T)|. In [0, 1]; 0 if the predicted map files no paper, None if
    the gold map files none.

    Paper: not in it; equation 1 is recall alone.
    Released: ``precision``, over the same lists as recall.
    Here: the counterpart of equation 1, over distinct papers.
    """
    ours, theirs = set(predicted.all_papers()), set(gold.all_papers())
    return len(ours & theirs) / (len(ours) or 1) if theirs else None


@metric("homogeneity", "map")
def homogeneity(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float | None:
    """Whether each predicted group has papers of one gold group.

    h = 1 - H(U|V) / H(U), with the gold groups U and the predicted ones V. In [0, 1]; 1 if there is
    one gold group. None if the gold map files no paper.

    Paper: equation 3.
    Released: scikit-learn's, over the groups of ``ari``.
    Here: scikit-learn's, over the groups of ``ari``.
    """
    return agreement(predicted, gold, "homogeneity_score")


@metric("completeness", "map")
def completeness(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float | None:
    """Whether the papers of each gold group are in one predicted group.

    c = 1 - H(V|U) / H(V). In [0, 1]; 1 if the predicted map files all papers under one node. None
    if the gold map files no paper.

    Paper: equation 3.
    Released: scikit-learn's, over the groups of ``ari``.
    Here: scikit-learn's, over the groups of ``ari``.
    """
    return agreement(predicted, gold, "completeness_score")


@metric("v_measure", "map")
def v_measure(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float | None:
    """Harmonic mean of homogeneity and completeness, 2 h c / (h + c).

    In [0, 1]; None if the gold map files no paper.

    Paper: equation 4.
    Released: scikit-learn's, over the groups of ``ari``.
    Here: scikit-learn's, over the groups of ``ari``.
    """
    return agreement(predicted, gold, "v_measure_score")


# Section 3.2: the root's label counts, too. A map without a heading below its root is not an answer
# and scores 0.


@metric("normalised_ted", "map", lower_is_better=True, needs=["encoder"])
def normalised_ted(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float:
    """Tree edit distance with the cosine as cost of a new label, divided by the number of nodes.

    TED = least sum of costs / (|T*| + |T|): an insertion and a deletion cost 1, to put one label
    for another costs 1 - max(0, cosine), and 0 if they are equal. Ordered trees; Zhang and Shasha's
    algorithm. In [0, 1]: 0 for equal maps; 1 for a map without a heading below its root, which is
    not an answer.

    Paper: equation 5; a new label costs 1 - cosine, a node 1. The root counts.
    Released: not in the scorer; ``ted.py``, which made the printed numbers, uses all-MiniLM-L6-v2
        and adds the distance of two subtrees to a wrong cell of its table, so that most distances
        come out too large.
    Here: the least distance; a new label costs 1 - max(0, cosine).
    """
    if not predicted.size:
        return 1.0
    a, b = MindMap("", (predicted,)), MindMap("", (gold,))  # so that the roots are nodes, too

    def costs() -> NDArray[np.float64]:
        likeness = np.clip(cosines(a.labels(), b.labels(), context.encoder), 0.0, 1.0)
        return np.minimum(~equal_labels(a, b), 1.0 - likeness)

    return edit_distance(a, b, costs) / (a.size + b.size)


@metric("node_soft_recall", "map", needs=["encoder"])
def node_soft_recall(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float:
    """Soft overlap of the headings, relative to the gold map's.

    NSR = (c(T*) + c(T) - c(T* u T)) / c(T*), with the soft cardinality c
    (`arena.mindmap.cardinality`). At least 0, 1 for the gold map; can exceed 1.

    Paper: equations 6 and 7.
    Released: not in the scorer; ``nsr.py``, which made the printed numbers, uses all-MiniLM-L6-v2
        and counts repeated labels, in the union, too, and negative cosines as they are.
    Here: over distinct labels; negative cosines count as 0.
    """
    _, theirs, shared = _node_cardinalities(predicted, gold, context.encoder)
    return shared / theirs


@metric("node_soft_precision", "map", needs=["encoder"])
def node_soft_precision(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float:
    """Soft overlap of the headings, relative to the predicted map's.

    NSP = (c(T*) + c(T) - c(T* u T)) / c(T); see `node_soft_recall`.

    Paper: equations 6 and 8.
    Released: not in the scorer; ``nsp.py``, as for ``node_soft_recall``.
    Here: over distinct labels; negative cosines count as 0. Above 1 for a chain of headings alike.
    """
    ours, _, shared = _node_cardinalities(predicted, gold, context.encoder)
    return shared / ours


@metric("node_soft_f1", "map", needs=["encoder"])
def node_soft_f1(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float:
    """Harmonic mean of node soft recall and precision.

    At least 0, 1 for the gold map. It can exceed 1 by a little: a label between two others makes a
    union count less than its parts.

    Paper: equation 9.
    Released: not in the scorer; ``soft_f1.py`` takes the means of a model over its topics.
    Here: of each topic.
    """
    ours, theirs, shared = _node_cardinalities(predicted, gold, context.encoder)
    return 2 * shared / (ours + theirs)


def _node_cardinalities(
    predicted: MindMap, gold: MindMap, encoder: str | Encoder
) -> tuple[float, float, float]:
    """Return c(T), c(T*) and their overlap; 1, 1 and 0 without an answer."""
    if not predicted.size:
        return 1.0, 1.0, 0.0
    ours, theirs = ([node.label for node in tree.nodes()] for tree in (predicted, gold))
    return shared_cardinalities(ours, theirs, encoder)


@metric("sem_path", "map", needs=["encoder"])
def sem_path(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float | None:
    """Mean over the gold map's papers of how alike the paths to them are.

    A paper scores the best `path_score` of its paths in both maps, with the cosine of labels as
    similarity; one that the predicted map leaves out scores 0. Paths lead from the root, which
    counts, to the heading of the paper. In [0, 1]; None if the gold map files no paper.

    Paper: not in it.
    Released: labels by the similarity of strings that compares titles, too; the mean over the
        papers that are found.
    Here: its cost of paths, by cosines of labels; a paper that is left out counts as 0.
    """
    theirs, ours = _paths(gold), _paths(predicted)
    if not theirs:
        return None
    labels = {node.label for tree in (predicted, gold) for node in tree.nodes()}
    named = sorted(label for label in labels if label.strip())
    vectors = dict(zip(named, unit_vectors(named, context.encoder), strict=True)) if named else {}

    def similarity(a: str, b: str) -> float:
        if a == b:
            return 1.0
        return float(vectors[a] @ vectors[b]) if {a, b} <= vectors.keys() else 0.0

    best = []
    for paper, known in theirs.items():
        pairs = itertools.product(known, ours.get(paper, ()))
        best.append(max((path_score(*pair, similarity) for pair in pairs), default=0.0))
    return sum(best) / len(best)


def _paths(tree: MindMap) -> dict[str, list[list[str]]]:
    """Return paper -> the labels from the root to each heading that files it."""
    known: dict[str, list[list[str]]] = {}
    path: list[str] = []
    for level, node in tree.levels():
        path[level:] = [node.label]
        for paper in node.papers:
            known.setdefault(paper, []).append(path.copy())
    return known


def path_score(
    gold: Sequence[str], predicted: Sequence[str], similarity: Callable[[str, str], float]
) -> float:
    """Return 1 / (1 + cost) of two paths of labels from the root down.

    Each label of the shorter path is put to one of the longer, in order, so that the sum of
    1 - max(0, similarity) is least; each label left over costs 1. The label of the shorter path is
    the first argument of `similarity`, of two equally long ones the expert's. In (0, 1].
    """
    short, long = (gold, predicted) if len(gold) <= len(predicted) else (predicted, gold)
    slack = len(long) - len(short)
    costs = [0.0] * (slack + 1)  # of the labels so far, with this many of the longer path skipped
    for i, label in enumerate(short):
        least = float("inf")
        for skipped in range(slack + 1):
            match = costs[skipped] + 1.0 - max(0.0, similarity(label, long[i + skipped]))
            costs[skipped] = least = min(least, match)
    return 1.0 / (1.0 + costs[-1] + slack) if short else 1.0 / (1.0 + slack)
