"""A random tree over frequent terms."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from baselines._papers import Paper
from baselines._phrases import phrases

_TERMS = 50
# The middle half of 333 taxonomies of real surveys has 3 to 5 headings at the top and 11 to 20 in
# all, two levels deep: 4 and 15 in the median.
_TOP = (3, 5)
_BELOW = (2, 4)


def random_tree(papers: Sequence[Paper], topic: str, draw: random.Random) -> dict[str, Any]:
    """Return a mind-map of two levels: terms drawn from the most frequent ones of the titles.

    Terms are n-grams of 1 to 3 words, counted by titles. Each paper is filed under a random
    heading of the lower level. With too few terms there are fewer headings.

    Args:
        papers: at least one; where no title has a term, the titles themselves are the terms.
        topic: the root's label.
        draw: the only source of chance.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    forms: dict[tuple[str, ...], str] = {}
    for paper in papers:
        found = {phrase.stems: phrase.surface for phrase in phrases(paper.title)}
        counts.update(list(found))
        for stems, surface in found.items():
            forms.setdefault(stems, surface)
    frequent = sorted(counts, key=lambda stems: (-counts[stems], stems))[:_TERMS]
    terms = [forms[stems] for stems in frequent]
    if not terms:
        terms = list(dict.fromkeys(paper.title.strip() or "Papers" for paper in papers))[:_TERMS]
    draw.shuffle(terms)
    tops: list[dict[str, Any]] = []
    for _ in range(draw.randint(*_TOP)):
        if terms:
            tops.append({"label": terms.pop(), "children": [], "papers": []})
    for top in tops:
        for _ in range(draw.randint(*_BELOW)):
            if terms:
                top["children"].append({"label": terms.pop(), "papers": []})
    leaves = [leaf for top in tops for leaf in top["children"] or [top]]
    for paper in papers:
        draw.choice(leaves)["papers"].append(paper.id)
    return {"label": topic, "children": tops, "papers": []}
