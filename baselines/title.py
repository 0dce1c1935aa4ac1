"""Title: search once for the topic and submit the hits in their order."""

from __future__ import annotations

from arena.agents import AGENTS, Action, Agent, Observation, result_of


@AGENTS.register("title")
class Title(Agent):
    """The survey's lower-cased title as the only query (ResearchArena, section 6.1)."""

    def act(self, observation: Observation) -> Action:
        """Search for the topic, then submit every hit; submit no mind-map."""
        if observation["stage"] == "organization":
            return {"tool": "finish", "arguments": {}}
        result = result_of(observation)
        if "hits" not in result:
            return {"tool": "search", "arguments": {"query": observation["topic"], "k": 100}}
        return {"tool": "submit", "arguments": {"paper_ids": [hit["id"] for hit in result["hits"]]}}
