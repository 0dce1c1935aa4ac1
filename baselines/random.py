"""Random: the floor. It searches for random words, whatever the topic."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

from arena.agents import AGENTS, Action, Agent, Known, Observation, result_of
from arena.report.listing import listing
from baselines.parts.phrases import phrases

_FIRST_WORDS = ("analysis", "approach", "data", "method", "model", "new", "results", "study")
_SEARCHES = 10
_SUBMITTED = 100
_TERMS = 50
# The middle half of 333 taxonomies of real surveys has 3 to 5 headings at the top and 11 to 20 in
# all, two levels deep: 4 and 15 in the median.
_TOP = (3, 5)
_BELOW = (2, 4)


@AGENTS.register("random")
class Random(Agent):
    """Random words as queries, random papers of those seen as the answer, in a random tree."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self._random = random.Random(seed)
        self._seen: dict[str, Known] = {}
        self._chosen: list[str] = []
        self._words = list(_FIRST_WORDS)
        self._searches = 0

    def act(self, observation: Observation) -> Action:
        """Search for a random word of the titles so far; after ten searches submit a random sample.

        A report lists the sample. A mind-map is a random tree over frequent terms of the titles of
        the starting papers, of the papers submitted last, or else of such a sample.
        """
        organizing = observation["stage"] == "organization"
        self._look(observation)
        if organizing and self._chosen:
            return self._organize(observation)
        budget = observation["budget"]
        if self._searches < _SEARCHES and budget["searches"] > 0 and budget["steps"] > 1:
            self._searches += 1
            query = self._random.choice(self._words)
            return {"tool": "search", "arguments": {"query": query, "k": 100}}
        self._chosen = self._random.sample(list(self._seen), min(_SUBMITTED, len(self._seen)))
        if organizing:
            return self._organize(observation)
        if observation["stage"] == "report":
            papers = [self._seen[paper_id][:3] for paper_id in self._chosen]
            text = listing(observation["topic"], papers)
            return {"tool": "submit_report", "arguments": {"text": text}}
        return {"tool": "submit", "arguments": {"paper_ids": self._chosen}}

    def _look(self, observation: Observation) -> None:
        result = result_of(observation)
        for paper in (*result.get("references", ()), *result.get("hits", ())):
            self._seen[paper["id"]] = Known(paper["id"], paper["title"], paper["date"])
            self._words.extend(paper["title"].split())
        self._chosen = [paper["id"] for paper in result.get("references", ())] or self._chosen

    def _organize(self, observation: Observation) -> Action:
        if not self._chosen:
            return {"tool": "finish", "arguments": {}}
        papers = [self._seen[paper_id] for paper_id in self._chosen]
        mind_map = random_tree(papers, observation["topic"], self._random)
        return {"tool": "organize", "arguments": {"mind_map": mind_map}}


def random_tree(papers: Sequence[Known], topic: str, draw: random.Random) -> dict[str, Any]:
    """Return a mind-map of two levels: terms drawn from the most frequent ones of the titles.

    Terms are n-grams of 1 to 3 words, counted by titles. Each paper is filed under a random
    heading of the lower level. With too few terms there are fewer headings.

    Args:
        papers: At least one paper. If no title has a term, the titles themselves are the terms.
        topic: Label of the root.
        draw: Generator of all random numbers.
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
