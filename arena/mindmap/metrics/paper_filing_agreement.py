"""Paper filing agreement: whether papers are grouped under headings as the survey groups them."""

from __future__ import annotations

from collections import Counter

from arena.mindmap.metrics import MIND_MAP_METRICS
from arena.mindmap.metrics._filing import first_places
from arena.mindmap.tree import MindMap


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
    theirs, ours = first_places(gold), first_places(predicted)
    sizes = Counter(theirs.values())
    if len(sizes) < 2 or max(sizes.values()) < 2:
        return None
    from sklearn.metrics import adjusted_mutual_info_score

    papers = sorted(theirs)
    groups = [ours.get(paper, -number) for number, paper in enumerate(papers, 1)]
    agreement = adjusted_mutual_info_score([theirs[paper] for paper in papers], groups)
    return round(float(agreement), 12)
