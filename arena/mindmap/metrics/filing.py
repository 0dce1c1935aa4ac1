"""How papers are filed: the leaves of two mind-maps, whatever their labels say.

TaxoBench, section 3.1. The papers of the gold map count. Each belongs to the node under which it is
filed; of several nodes the first in preorder counts, and inner nodes are nodes like others. The
papers that the predicted map leaves out form one group of their own. A map that files none of them
has no answer and scores 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.tree import MindMap


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
    ours, theirs = set(predicted.all_papers()), set(gold.all_papers())
    return len(ours & theirs) / len(theirs) if theirs else None


@MIND_MAP_METRICS.register("leaf_precision")
def leaf_precision(predicted: MindMap, gold: MindMap) -> float | None:
    """Share of the predicted map's papers that the gold map files anywhere.

    Precision = |L(T*) ∩ L(T)| / |L(T)|, the counterpart of TaxoBench's equation 1. In [0, 1];
    0 if the predicted map files no paper, None if the gold map files none.
    """
    ours, theirs = set(predicted.all_papers()), set(gold.all_papers())
    return len(ours & theirs) / (len(ours) or 1) if theirs else None


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


@MIND_MAP_METRICS.register("paper_filing_agreement")
def paper_filing_agreement(predicted: MindMap, gold: MindMap) -> float | None:
    """Adjusted mutual information of how both maps file the gold map's papers under headings.

    AMI = (I(P, G) - E) / ((H(P) + H(G)) / 2 - E), where I is the mutual information of the two
    groupings, H their entropies, and E the expected mutual information of groupings of these sizes
    that are made at random. About 0 by chance and for a map without papers, at most 1, which the
    gold map scores. Labels do not count, nor does the order or the nesting of headings, nor do
    papers that the gold map does not have. A paper that the predicted map does not have is a group
    of its own. Of several headings of a paper the first counts.

    Source: Vinh, Epps and Bailey, Information theoretic measures for clusterings comparison, JMLR
    11, 2010; scikit-learn's implementation.

    Args:
        predicted: The map that was made.
        gold: The survey's own.

    Returns:
        The agreement; None where the gold map groups no papers: none of its headings has two, or
        one has all.

    Example:
        >>> gold = MindMap("", (MindMap("x", papers=("a", "b")), MindMap("y", papers=("c", "d"))))
        >>> paper_filing_agreement(MindMap("", gold.children[::-1]), gold)
        1.0
    """
    theirs, ours = _first_places(gold), _first_places(predicted)
    sizes = Counter(theirs.values())
    if len(sizes) < 2 or max(sizes.values()) < 2:
        return None
    from sklearn.metrics import adjusted_mutual_info_score

    papers = sorted(theirs)
    groups = [ours.get(paper, -number) for number, paper in enumerate(papers, 1)]
    agreement = adjusted_mutual_info_score([theirs[paper] for paper in papers], groups)
    return round(float(agreement), 12)


def _agreement(
    predicted: MindMap, gold: MindMap, score: Callable[[Sequence[int], Sequence[int]], float]
) -> float | None:
    """Return the score of the gold groups and the predicted ones; None without gold papers."""
    theirs, ours = _first_places(gold), _first_places(predicted)
    if not theirs:
        return None
    if not theirs.keys() & ours.keys():
        return 0.0
    return float(score(list(theirs.values()), [ours.get(paper, -1) for paper in theirs]))


def _first_places(tree: MindMap) -> dict[str, int]:
    """Return the number, in preorder, of the first node under which each paper is filed."""
    places: dict[str, int] = {}
    for number, node in enumerate(tree.nodes()):
        for paper in node.papers:
            places.setdefault(paper, number)
    return places
