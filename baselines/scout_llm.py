"""Scout with a language model that proposes sub-topics and judges papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from annotated_types import Interval

from arena.agents import Desk, Steps, agent
from arena.llm import Fields, LLMAgent
from baselines.parts.asking import judgements, listed, queries
from baselines.scout import Scout

_SHOWN = 30  # titles from which the model proposes sub-topics


@agent("scout-llm")
class ScoutLLM(Scout, LLMAgent):
    """Scout whose sub-topics a model proposes, and whose papers it judges.

    The model reads the best titles after the first round and writes queries for sub-topics. Before
    papers are searched for, and at the end, it judges for each, by its number, whether the survey
    would cite it. Without a readable answer the agent continues as `Scout` does.

    Args:
        proposals: Most sub-topics to search for, 0 to 100; with 0 the model proposes none.
        judged: Papers at the top of a ranking that are judged, 0 to 1000.
        irrelevant: Factor of the score of a paper judged irrelevant, 0 to 1; with 0 it ranks last
            and is not searched for.
        batch: Papers that are judged in one request, 1 to 1000.
    """

    folder = "scout-llm"
    templates = {  # noqa: RUF012
        "subtopics": Fields(required=("topic", "papers"), optional=("cutoff", "count")),
        "judge": Fields(required=("topic", "papers"), optional=("cutoff",)),
    }

    def __init__(
        self,
        seed: int = 0,
        proposals: Annotated[int, Interval(ge=0, le=100)] = 8,
        judged: Annotated[int, Interval(ge=0, le=1000)] = 100,
        irrelevant: Annotated[float, Interval(ge=0, le=1)] = 0.25,
        batch: Annotated[int, Interval(ge=1, le=1000)] = 25,
        **options: Any,
    ) -> None:
        super().__init__(seed, **options)
        self._proposals, self._most_judged, self._irrelevant = proposals, judged, irrelevant
        self._batch = batch

    def subtopics(self, desk: Desk) -> Steps[Sequence[str]]:
        """Return the queries that the model writes for sub-topics."""
        papers = listed([desk.papers[i] for i in desk.ranking[:_SHOWN]], abstracts=False)
        values = {"topic": desk.topic, "cutoff": desk.cutoff, "papers": papers}
        count = self._proposals
        proposed = self.ask("subtopics", queries, count=count, **values) if count else None
        return proposed[:count] if proposed else (yield from super().subtopics(desk))

    def judge(self, desk: Desk, paper_ids: Sequence[str]) -> Steps[Mapping[str, float]]:
        """Return 1 for papers that the model calls relevant, `irrelevant` for others."""
        yield from ()
        papers = paper_ids[: self._most_judged]
        judged = judgements(self, desk, papers, self._batch, abstracts=True)
        return {i: 1.0 if relevant else self._irrelevant for i, relevant in judged.items()}

    def notes(self) -> dict[str, Any]:
        """Return the notes of both: the papers searched for, and the calls of the model."""
        return Scout.notes(self) | LLMAgent.notes(self)
