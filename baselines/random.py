"""Random: the floor. It wanders through the corpus without looking at the topic."""

from __future__ import annotations

import random

from arena.agents import AGENTS, Action, Agent, Observation, result_of
from baselines._frequent import random_tree
from baselines._papers import Paper

__all__ = ["Random", "random_tree"]

_FIRST_WORDS = ("analysis", "approach", "data", "method", "model", "new", "results", "study")
_SEARCHES = 10
_SUBMITTED = 100


@AGENTS.register("random")
class Random(Agent):
    """Random words as queries, random papers of those seen as the answer, in a random tree."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self._random = random.Random(seed)
        self._seen: dict[str, str] = {}
        self._chosen: list[str] = []
        self._words = list(_FIRST_WORDS)
        self._searches = 0

    def act(self, observation: Observation) -> Action:
        """Search for a random word met so far; after some searches hand in a random sample.

        A mind-map is a random tree over frequent terms of the titles: of the papers given, of
        those submitted last, or else of such a sample.
        """
        organizing = observation["stage"] == "organization"
        self._look(observation)
        if organizing and self._chosen:
            return self._organize(observation)
        budget = observation["budget"]
        if self._searches < _SEARCHES and budget["searches"] > 0 and budget["steps"] > 1:
            self._searches += 1
            return {
                "tool": "search",
                "arguments": {"query": self._random.choice(self._words), "k": 100},
            }
        self._chosen = self._random.sample(list(self._seen), min(_SUBMITTED, len(self._seen)))
        if organizing:
            return self._organize(observation)
        return {"tool": "submit", "arguments": {"paper_ids": self._chosen}}

    def _look(self, observation: Observation) -> None:
        result = result_of(observation)
        for paper in (*result.get("references", ()), *result.get("hits", ())):
            self._seen[paper["id"]] = paper["title"]
            self._words.extend(paper["title"].split())
        self._chosen = [paper["id"] for paper in result.get("references", ())] or self._chosen

    def _organize(self, observation: Observation) -> Action:
        if not self._chosen:
            return {"tool": "finish", "arguments": {}}
        papers = [Paper(paper_id, self._seen[paper_id]) for paper_id in self._chosen]
        mind_map = random_tree(papers, observation["topic"], self._random)
        return {"tool": "organize", "arguments": {"mind_map": mind_map}}
