"""Random: the floor. It wanders through the corpus without looking at the topic."""

from __future__ import annotations

import random

from arena.agents import AGENTS, Action, Agent, Observation, result_of

_FIRST_WORDS = ("analysis", "approach", "data", "method", "model", "new", "results", "study")
_SEARCHES = 10
_SUBMITTED = 100


@AGENTS.register("random")
class Random(Agent):
    """Random words as queries, random papers of those seen as the answer."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self._random = random.Random(seed)
        self._seen: dict[str, None] = {}
        self._words = list(_FIRST_WORDS)
        self._searches = 0

    def act(self, observation: Observation) -> Action:
        """Search for a random word met so far; after some searches submit a random sample.

        It hands in no mind-map.
        """
        if observation["stage"] == "organization":
            return {"tool": "finish", "arguments": {}}
        for hit in result_of(observation).get("hits", []):
            self._seen[hit["id"]] = None
            self._words.extend(hit["title"].split())
        if self._searches < min(_SEARCHES, self._searches + observation["budget"]["searches"]):
            self._searches += 1
            return {
                "tool": "search",
                "arguments": {"query": self._random.choice(self._words), "k": 100},
            }
        papers = self._random.sample(list(self._seen), min(_SUBMITTED, len(self._seen)))
        return {"tool": "submit", "arguments": {"paper_ids": papers}}
