"""Papers: how two mind-maps file them, whatever their labels say, and by what paths of headings.

TaxoBench, section 3.1. The papers of the gold map count. Of the metrics but `sem_path` each belongs
to the node under which it is filed; of several nodes the first in preorder counts, and inner nodes
are nodes like others. The papers that the predicted map leaves out form one group of their own. A
map that files none of them has no answer and scores 0.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Sequence

from arena.kit.lazy import load
from arena.metrics import ScoreContext, metric
from arena.mindmap.metrics import unit_vectors
from arena.mindmap.tree import MindMap


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


@metric("ari", "map")
def ari(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float | None:
    """Adjusted Rand index of the two ways in which the gold map's papers are filed.

    ARI = (RI - E[RI]) / (max(RI) - E[RI]). In [-0.5, 1]: 1 for the same groups, about 0 by chance.
    None if the gold map files no paper.

    Paper: equation 2, in Bottom-Up mode.
    Released: scikit-learn's; a paper in several nodes belongs to the last, and those left out are
        one group; 0 for fewer than two papers.
    Here: scikit-learn's, over the expert's papers; a paper in several nodes belongs to the first,
        and those left out are one group.

    Example:
        >>> gold = MindMap("", (MindMap("x", papers=("a", "b")), MindMap("y", papers=("c", "d"))))
        >>> ari(MindMap("", papers=("a", "b", "c", "d")), gold)
        0.0
    """
    return _agreement(predicted, gold, "adjusted_rand_score")


@metric("homogeneity", "map")
def homogeneity(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float | None:
    """Whether each predicted group has papers of one gold group.

    h = 1 - H(U|V) / H(U), with the gold groups U and the predicted ones V. In [0, 1]; 1 if there is
    one gold group. None if the gold map files no paper.

    Paper: equation 3.
    Released: scikit-learn's, over the groups of ``ari``.
    Here: scikit-learn's, over the groups of ``ari``.
    """
    return _agreement(predicted, gold, "homogeneity_score")


@metric("completeness", "map")
def completeness(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float | None:
    """Whether the papers of each gold group are in one predicted group.

    c = 1 - H(V|U) / H(V). In [0, 1]; 1 if the predicted map files all papers under one node. None
    if the gold map files no paper.

    Paper: equation 3.
    Released: scikit-learn's, over the groups of ``ari``.
    Here: scikit-learn's, over the groups of ``ari``.
    """
    return _agreement(predicted, gold, "completeness_score")


@metric("v_measure", "map")
def v_measure(predicted: MindMap, gold: MindMap, context: ScoreContext) -> float | None:
    """Harmonic mean of homogeneity and completeness, 2 h c / (h + c).

    In [0, 1]; None if the gold map files no paper.

    Paper: equation 4.
    Released: scikit-learn's, over the groups of ``ari``.
    Here: scikit-learn's, over the groups of ``ari``.
    """
    return _agreement(predicted, gold, "v_measure_score")


@metric("paper_filing_agreement", "map")
def paper_filing_agreement(
    predicted: MindMap, gold: MindMap, context: ScoreContext
) -> float | None:
    """Adjusted mutual information of how both maps file the gold map's papers under headings.

    AMI = (I(P, G) - E) / ((H(P) + H(G)) / 2 - E), where I is the mutual information of the two
    groupings, H their entropies, and E the expected mutual information of groupings of these sizes
    that are made at random. About 0 by chance and for a map without papers, at most 1, which the
    gold map scores. Labels do not count, nor does the order or the nesting of headings, nor do
    papers that the gold map does not have. A paper that the predicted map does not have is a group
    of its own. Of several headings of a paper the first counts. None where the gold map
    groups no papers: none of its headings has two, or one has all.

    Source: Vinh, Epps and Bailey, Information theoretic measures for clusterings comparison, JMLR
    11, 2010; scikit-learn's implementation.

    Example:
        >>> gold = MindMap("", (MindMap("x", papers=("a", "b")), MindMap("y", papers=("c", "d"))))
        >>> paper_filing_agreement(MindMap("", gold.children[::-1]), gold)
        1.0
    """
    theirs, ours = _first_places(gold), _first_places(predicted)
    sizes = Counter(theirs.values())
    if len(sizes) < 2 or max(sizes.values()) < 2:
        return None
    if not theirs.keys() & ours.keys():
        return 0.0
    metrics = load("sklearn.metrics", "the metric paper_filing_agreement")
    papers = sorted(theirs)
    groups = [ours.get(paper, -number) for number, paper in enumerate(papers, 1)]
    agreement = metrics.adjusted_mutual_info_score([theirs[paper] for paper in papers], groups)
    return round(float(agreement), 12)


def _agreement(predicted: MindMap, gold: MindMap, score: str) -> float | None:
    """Return a score of scikit-learn for the two ways of filing; None without gold papers."""
    theirs, ours = _first_places(gold), _first_places(predicted)
    if not theirs:
        return None
    if not theirs.keys() & ours.keys():
        return 0.0
    metrics = load("sklearn.metrics", f"the metric {score}")
    groups = [ours.get(paper, -1) for paper in theirs]
    return float(getattr(metrics, score)(list(theirs.values()), groups))


def _first_places(tree: MindMap) -> dict[str, int]:
    """Return the number, in preorder, of the first node under which each paper is filed."""
    places: dict[str, int] = {}
    for number, node in enumerate(tree.nodes()):
        for paper in node.papers:
            places.setdefault(paper, number)
    return places


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
