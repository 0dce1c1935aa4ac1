"""Random: the floor. It searches for random words, whatever the topic."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from arena.agents import Desk, KnownPaper, Researcher, Steps, agent
from baselines.parts.texts import phrases

_FIRST_WORDS = ("analysis", "approach", "data", "method", "model", "new", "results", "study")
_SEARCHES = 10
_SUBMITTED = 100
_TERMS = 50
# The middle half of 333 taxonomies of real surveys has 3 to 5 headings at the top and 11 to 20 in
# all, two levels deep: 4 and 15 in the median.
_TOP = (3, 5)
_BELOW = (2, 4)


@agent("random")
class Random(Researcher):
    """Random words as queries, random papers of those seen as the answer, in a random tree."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self._random = random.Random(seed)

    def discover(self, desk: Desk) -> Steps[None]:
        """Search ten times for a random word of the titles so far, and draw a random sample."""
        words = [
            *_FIRST_WORDS,
            *(word for i in desk.given for word in desk.papers[i].title.split()),
        ]
        for _ in range(_SEARCHES):
            if desk.searches_left:
                hits = yield from desk.search(self._random.choice(words))
                words += [word for hit in hits for word in hit.title.split()]
        self._draw(desk)

    def select(self, desk: Desk) -> Steps[None]:
        """Draw another sample."""
        yield from ()
        self._draw(desk)

    def organize(self, desk: Desk) -> Steps[None]:
        """Draw a random tree over frequent terms of the titles of the starting papers, or a sample.

        The sample is that of `discover`, or of the papers submitted last.
        """
        if not desk.given and not desk.ranking:
            yield from self.discover(desk)
        papers = [desk.papers[paper_id] for paper_id in desk.given or desk.ranking]
        if papers:
            desk.mind_map = random_tree(papers, desk.topic, self._random)

    def _draw(self, desk: Desk) -> None:
        papers = list(desk.papers)
        desk.ranking = self._random.sample(papers, min(_SUBMITTED, len(papers)))


def random_tree(papers: Sequence[KnownPaper], topic: str, draw: random.Random) -> dict[str, Any]:
    """Return a mind-map of two levels: terms drawn from the most frequent ones of the titles.

    Terms are n-grams of 1 to 3 words, counted by titles. Each paper is filed under a random
    heading of the lower level. With too few terms there are fewer headings.
    """
    titles = [dict(phrases(paper.title)) for paper in papers]  # stems -> surface
    counts = Counter(stems for title in titles for stems in title)
    forms = {stems: title[stems] for title in reversed(titles) for stems in title}
    frequent = sorted(counts, key=lambda stems: (-counts[stems], stems))[:_TERMS]
    terms = [forms[stems] for stems in frequent]
    if not terms:
        terms = list(dict.fromkeys(paper.title.strip() or "Papers" for paper in papers))[:_TERMS]
    draw.shuffle(terms)
    tops: list[dict[str, Any]] = [
        {"label": terms.pop(), "children": [], "papers": []}
        for _ in range(min(draw.randint(*_TOP), len(terms)))
    ]
    for top in tops:
        for _ in range(min(draw.randint(*_BELOW), len(terms))):
            top["children"].append({"label": terms.pop(), "papers": []})
    leaves = [leaf for top in tops for leaf in top["children"] or [top]]
    for paper in papers:
        draw.choice(leaves)["papers"].append(paper.id)
    return {"label": topic, "children": tops, "papers": []}
