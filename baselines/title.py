"""Title: search once for the topic and submit the hits in their order."""

from __future__ import annotations

from arena.agents import AGENTS, Action, Agent, Observation, result_of
from arena.report.listing import listing


@AGENTS.register("title")
class Title(Agent):
    """The survey's lower-cased title as the only query (ResearchArena, section 6.1)."""

    def act(self, observation: Observation) -> Action:
        """Search for the topic; submit every hit, in a report as a list, and no mind-map."""
        if observation["stage"] == "organization":
            return {"tool": "finish", "arguments": {}}
        result = result_of(observation)
        if "hits" not in result:
            return {"tool": "search", "arguments": {"query": observation["topic"], "k": 100}}
        hits = [(hit["id"], hit["title"], hit["date"]) for hit in result["hits"]]
        if observation["stage"] == "report":
            text = listing(observation["topic"], hits)
            return {"tool": "submit_report", "arguments": {"text": text}}
        return {"tool": "submit", "arguments": {"paper_ids": [hit[0] for hit in hits]}}
