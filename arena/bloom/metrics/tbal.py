"""Thematic Balance: are the references spread evenly over the themes?"""

from __future__ import annotations

from collections.abc import Sequence

from arena.bloom.base import Finding, Pair, survey_metric
from arena.bloom.themes import FEWEST, themes_of


@survey_metric("tbal", tier="comprehension", needs=("embeddings",))
def tbal(pair: Pair) -> Finding:
    """Thematic Balance: evenness of the themes of the generated references, in [0, 1].

    1 - G, the Gini coefficient of their sizes, Bloom-Eval, equation 5. Fewer than five references
    give 0, as in the released code. All of them in one theme are even: 1. None if BERTopic leaves
    all of them out.
    """
    themes = themes_of(pair, "generated")
    rows = [(theme.label, str(len(theme.works)), theme.central) for theme in themes]
    headers = ("theme", "references", "in its middle")
    if sum(bool(work.title or work.abstract) for work in pair.generated.works) < FEWEST:
        return Finding({"": 0.0}, rows, headers)
    if not themes:
        return Finding({"": None}, rows, headers, "the references form no theme.")
    return Finding({"": 1 - gini([len(theme.works) for theme in themes])}, rows, headers)


def gini(sizes: Sequence[int]) -> float:
    """Return the Gini coefficient of sizes, in [0, 1); equation 5.

    >>> gini([1, 3]), gini([2, 2])
    (0.25, 0.0)
    """
    return sum(abs(a - b) for a in sizes for b in sizes) / (2 * len(sizes) * sum(sizes))
