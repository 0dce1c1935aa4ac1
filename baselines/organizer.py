"""Organizer: the headings with the largest adjusted Rand index that can be expected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from arena.agents import KnownPaper, agent
from arena.encoders import Encoder
from arena.kit.process import one_thread
from arena.mindmap.tree import MAX_DEPTH, MAX_HEADINGS, MindMap
from baselines.clustering import Clustering, Dendrogram, by_children, groups, labelled, text_of
from baselines.parts.texts import Group, encode, unit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# The logarithm of the odds that two papers are under one heading is SLOPE * likeness + BIAS: a
# logistic regression on the pairs of papers that people cite in the sections of topics.
# No topic of TaxoBench is among them.
SLOPE = 0.43
BIAS = -2.05
_LEAVES = MAX_HEADINGS // 2  # at most; as many headings are left for the levels above
_CHILDREN = 5  # headings below a heading that is not a leaf
_GRID = float(1 << 20)  # probabilities are multiples of its inverse: sums of them are exact


def arrange(
    papers: Sequence[KnownPaper], topic: str = "", *, encoder: str | Encoder = "static"
) -> MindMap:
    """Return a mind-map of papers in which every paper is under exactly one leaf.

    Any two papers have a probability of being under one heading, `likeness` through a logistic
    function. Average linkage merges the papers by it, and `best_cut` chooses the leaves; Ward's
    method gathers the means of the leaves under at most 5 headings, and those again.

    Returns:
        The mind-map; a root alone if there are no papers. The same papers give the same map, in
        whatever order they come.
    """

    def grouped(chosen: Sequence[KnownPaper]) -> Group:
        import numpy as np

        with one_thread():
            titles = unit(encode([paper.title for paper in chosen], encoder))
            vectors = unit(encode([text_of(paper) for paper in chosen], encoder)) + titles
            leaves = best_cut(likeness(vectors, chosen))
            centred = vectors - vectors.mean(axis=0)
            means = Dendrogram(np.stack([centred[leaf].mean(axis=0) for leaf in leaves]))
        root = groups(
            means, by_children(means, _CHILDREN), lift=False,
            most_groups=_LEAVES, most_levels=MAX_DEPTH - 1,
        )  # fmt: skip
        return _filled(root, leaves)

    return labelled(papers, topic, grouped)


@agent("organizer")
class Organizer(Clustering):
    """Leaves with the largest expected adjusted Rand index, labelled by TF-IDF n-grams.

    It reads and finds papers as ``clustering`` does, and makes the map with `arrange`.
    """

    def __init__(self, seed: int = 0, encoder: str = "static", abstracts: bool = True) -> None:
        super().__init__(seed, encoder=encoder, abstracts=abstracts)

    def draw(self, papers: Sequence[KnownPaper], topic: str) -> MindMap:
        """Return the map of papers."""
        return arrange(papers, topic, encoder=self._options["encoder"])


def likeness(vectors: NDArray[np.float64], papers: Sequence[KnownPaper]) -> NDArray[np.float64]:
    """Return how alike papers are, shape (n, n), in standard deviations from the mean pair.

    The sum of two cosines, each standardised over the pairs: of the vectors less their mean, so
    that what all papers of the topic share does not count; and of TF-IDF vectors (words and pairs
    of words that 2 papers to one half of them have; idf within the topic; the title counts
    twice).
    """
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer

    centred = unit(vectors - vectors.mean(axis=0))
    weights = TfidfVectorizer(
        sublinear_tf=True, stop_words="english", ngram_range=(1, 2), min_df=2, max_df=0.5
    )
    try:
        words = weights.fit_transform([f"{p.title} {p.title} {p.abstract}" for p in papers])
        terms = (words @ words.T).toarray()
    except ValueError:  # no word is left
        terms = np.zeros((len(papers), len(papers)))
    return _standardised(_standardised(centred @ centred.T) + _standardised(terms))


def best_cut(alike: NDArray[np.float64], most: int = _LEAVES) -> list[list[int]]:
    """Return the groups of papers, cut from average linkage, whose expected index is largest.

    With p the probabilities that pairs share a heading, N the pairs, a the pairs within the
    groups and B the sum of p, the index of Hubert and Arabie (1985, Equation 5) is

        (sum of p within the groups - aB/N) / ((a + B)/2 - aB/N)

    where the true counts are replaced by their expectations. It decides how many leaves there are.
    The likeness of the papers is symmetric, shape (n, n).

    Returns:
        Numbers of the papers of each group, the groups in the order of their first papers. One
        group if no cut is better than chance.
    """
    import numpy as np
    from scipy.cluster.hierarchy import linkage

    count = len(alike)
    if count == 1:
        return [[0]]
    p = np.rint(_GRID / (1 + np.exp(-(SLOPE * alike + BIAS)))) / _GRID
    np.fill_diagonal(p, 1.0)
    merges = linkage((1 - p)[np.triu_indices(count, 1)], "average")
    groups = {paper: [paper] for paper in range(count)}
    pairs, expected = count * (count - 1) / 2, (p.sum() - count) / 2
    within = gained = 0.0
    best, chosen = 1e-9, [list(range(count))]
    for node, (first, second) in enumerate(merges[:, :2].astype(int).tolist(), count):
        one, other = groups.pop(first), groups.pop(second)
        within += len(one) * len(other)
        gained += p[np.ix_(one, other)].sum()
        groups[node] = sorted(one + other)
        chance = within * expected / pairs
        index = (gained - chance) / ((within + expected) / 2 - chance) if len(groups) > 1 else 0.0
        if index > best and len(groups) <= most:
            best, chosen = index, list(groups.values())
    return sorted(chosen)


def _filled(group: Group, leaves: Sequence[Sequence[int]]) -> Group:
    """Return the groups of papers that a group of leaves stands for."""
    below = [Group(tuple(leaves[leaf]), filed=tuple(leaves[leaf])) for leaf in group.filed]
    for child in (_filled(child, leaves) for child in group.children):
        below += child.children if len(child.children) == 1 else [child]
    below.sort(key=lambda child: (-len(child.papers), child.papers))
    return Group(tuple(sorted(paper for child in below for paper in child.papers)), below)


def _standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a symmetric matrix less the mean of its pairs, over their standard deviation."""
    import numpy as np

    pairs = values[np.triu_indices(len(values), 1)]
    spread = pairs.std() if len(pairs) else 0.0
    # Of papers that are all alike, or of two, rounding errors are not a spread.
    return (values - pairs.mean()) / spread if spread > 1e-9 else np.zeros_like(values)
