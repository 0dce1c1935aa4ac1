"""Zero-shot: a language model turns the topic into one query."""

from __future__ import annotations

from arena.agents import AGENTS, Desk, Steps
from arena.llm import Fields, LLMAgent
from baselines.parts.asking import one_query


@AGENTS.register("zero-shot")
class ZeroShot(LLMAgent):
    """One query that a model derives from the topic (ResearchArena, section 6.1).

    If the model writes no query, it searches for the topic, as `title` does.
    """

    folder = "zero-shot"
    templates = {"query": Fields(required=("topic",), optional=("cutoff",))}  # noqa: RUF012

    def discover(self, desk: Desk) -> Steps[None]:
        """Search once."""
        query = self.ask("query", one_query, topic=desk.topic, cutoff=desk.cutoff)
        hits = yield from desk.search(query or desk.topic)
        desk.ranking = [hit.id for hit in hits]
