"""Title: search once for the topic and submit the hits in their order."""

from __future__ import annotations

from typing import Any

from arena.agents import Action, Agent, Hit, Observation, agent, result_of
from arena.ranker import Pool, open_ranker
from arena.report.listing import listing


@agent("title")
class Title(Agent):
    """The topic's lower-cased title as the only query (ResearchArena, section 6.1).

    Args:
        ranker: File of ``arena train ranker``, or ``learned``, that orders the hits; None keeps
            the engine's order.
    """

    def __init__(self, seed: int = 0, ranker: str | None = None) -> None:
        super().__init__(seed)
        self._ranker = None if ranker is None else open_ranker(ranker)

    def act(self, observation: Observation) -> Action:
        """Search for the topic; submit every hit, in a report as a list, and no mind-map."""
        if observation["stage"] == "organization":
            return {"tool": "finish", "arguments": {}}
        result, offered = result_of(observation), {t["function"]["name"] for t in self.tools}
        if "selected" in result:
            return {"tool": "finish", "arguments": {}}
        found = result.get("papers") or result.get("hits")  # papers: observation="pool"
        if found is None:
            return {"tool": "search", "arguments": {"query": observation["topic"], "k": 100}}
        hits = [(hit["id"], hit["title"], hit["date"]) for hit in found]
        if self._ranker is not None:
            pool = Pool(observation["topic"], observation["cutoff"])
            pool.hits([Hit(*hit, found[n]["score"]) for n, hit in enumerate(hits)])
            place = {paper_id: n for n, paper_id in enumerate(pool.ranking(self._ranker))}
            hits.sort(key=lambda hit: place[hit[0]])
        if observation["stage"] == "report":
            text = listing(observation["topic"], hits)
            return {"tool": "submit_report", "arguments": {"text": text}}
        tool = "select" if "select" in offered and "submit" not in offered else "submit"
        return {"tool": tool, "arguments": {"paper_ids": [hit[0] for hit in hits]}}

    def notes(self) -> dict[str, Any]:
        """Return the hash of the ranker."""
        more = {"ranker_sha256": self._ranker.sha256} if self._ranker else {}
        return super().notes() | more
