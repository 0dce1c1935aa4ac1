"""How papers are filed: the leaves of two mind-maps, whatever their labels say.

TaxoBench, section 3.1. The papers of the gold map count. Each belongs to the
node under which it is filed; of several nodes the first in preorder counts, and inner nodes are
nodes like others. The papers that the predicted map leaves out form one group of their own.
A map that files none of them has no answer and scores 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.tree import MindMap


def first_places(tree: MindMap) -> dict[str, int]:
    """Return the number, in preorder, of the first node under which each paper is filed."""
    places: dict[str, int] = {}
    for number, node in enumerate(tree.nodes()):
        for paper in node.papers:
            places.setdefault(paper, number)
    return places


@MIND_MAP_METRICS.register("leaf_recall")
def leaf_recall(predicted: MindMap, gold: MindMap) -> float | None:
    """Share of the gold map's papers that the predicted map files anywhere.

    Recall = |L(T*) ∩ L(T)| / |L(T*)|, TaxoBench, equation 1. In [0, 1]; None if the gold map
    files no paper. A paper counts once, however often it is filed.

    Example:
        >>> gold = MindMap("", (MindMap("x", papers=("p1", "p2")), MindMap("y", papers=("p3",))))
        >>> leaf_recall(MindMap("", papers=("p3", "p9")), gold)  # 1 of 3
        0.3333333333333333
    """
    papers = gold.all_papers()
    return _overlap(predicted, gold) / len(papers) if papers else None


@MIND_MAP_METRICS.register("leaf_precision")
def leaf_precision(predicted: MindMap, gold: MindMap) -> float | None:
    """Share of the predicted map's papers that the gold map files anywhere.

    Precision = |L(T*) ∩ L(T)| / |L(T)|, the counterpart of TaxoBench's equation 1. In [0, 1];
    0 if the predicted map files no paper, None if the gold map files none.
    """
    papers = predicted.all_papers()
    if not gold.all_papers():
        return None
    return _overlap(predicted, gold) / len(papers) if papers else 0.0


@MIND_MAP_METRICS.register("ari")
def ari(predicted: MindMap, gold: MindMap) -> float | None:
    """Adjusted Rand index of the two ways in which the gold map's papers are filed.

    ARI = (RI - E[RI]) / (max(RI) - E[RI]), TaxoBench, equation 2; scikit-learn's. In [-0.5, 1]: 1
    for the same groups, about 0 by chance. None if the gold map files no paper.

    Example:
        >>> gold = MindMap("", (MindMap("x", papers=("a", "b")), MindMap("y", papers=("c", "d"))))
        >>> ari(MindMap("", papers=("a", "b", "c", "d")), gold)
        0.0
    """
    from sklearn.metrics import adjusted_rand_score

    return _agreement(predicted, gold, adjusted_rand_score)


@MIND_MAP_METRICS.register("homogeneity")
def homogeneity(predicted: MindMap, gold: MindMap) -> float | None:
    """Whether each predicted group holds papers of one gold group.

    h = 1 - H(U|V) / H(U), TaxoBench, equation 3, with the gold groups U and the predicted ones V;
    scikit-learn's. In [0, 1]; 1 if there is one gold group. None if the gold map files no paper.
    """
    from sklearn.metrics import homogeneity_score

    return _agreement(predicted, gold, homogeneity_score)


@MIND_MAP_METRICS.register("completeness")
def completeness(predicted: MindMap, gold: MindMap) -> float | None:
    """Whether the papers of each gold group are in one predicted group.

    c = 1 - H(V|U) / H(V), TaxoBench, equation 3; scikit-learn's. In [0, 1]; 1 if the predicted map
    files all papers under one node. None if the gold map files no paper.
    """
    from sklearn.metrics import completeness_score

    return _agreement(predicted, gold, completeness_score)


@MIND_MAP_METRICS.register("v_measure")
def v_measure(predicted: MindMap, gold: MindMap) -> float | None:
    """Harmonic mean of homogeneity and completeness, 2 h c / (h + c): TaxoBench, equation 4.

    In [0, 1]; None if the gold map files no paper.
    """
    from sklearn.metrics import v_measure_score

    return _agreement(predicted, gold, v_measure_score)


def _overlap(predicted: MindMap, gold: MindMap) -> int:
    return len(set(predicted.all_papers()) & set(gold.all_papers()))


def _agreement(
    predicted: MindMap, gold: MindMap, score: Callable[[Sequence[int], Sequence[int]], float]
) -> float | None:
    theirs, ours = first_places(gold), first_places(predicted)
    if not theirs:
        return None
    if not theirs.keys() & ours.keys():
        return 0.0
    return float(score(list(theirs.values()), [ours.get(paper, -1) for paper in theirs]))
