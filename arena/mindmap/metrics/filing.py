"""Papers: how two mind-maps file them, whatever their labels say.

The papers of the gold map count. Each belongs to the node under which it is filed; of several nodes
the first in preorder counts, and inner nodes are nodes like others. The papers that the predicted
map leaves out form one group of their own. A map that files none of them has no answer and scores
0.
"""

from __future__ import annotations

from collections import Counter

from arena.kit.lazy import load
from arena.metrics import ScoreContext, metric
from arena.mindmap.tree import MindMap


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
    return agreement(predicted, gold, "adjusted_rand_score")


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


def agreement(predicted: MindMap, gold: MindMap, score: str) -> float | None:
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
