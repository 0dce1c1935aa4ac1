"""Self-RAG: a language model judges the hits of its query and refines the query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena._internal.options import flag, whole
from arena.agents import AGENTS, Desk, Steps
from arena.llm import Fields, LLMAgent
from baselines.parts.asking import first_query, judgements, listed, next_query


@AGENTS.register("self-rag")
class SelfRAG(LLMAgent):
    """Zero-shot that refines its query by its hits (Asai et al.; ResearchArena, section 6.1).

    The model writes a query and decides whether to read its hits: ``[Retrieve]`` or
    ``[No Retrieve]``. If so, it judges each of the first hits, ``[Relevant]`` or
    ``[Irrelevant]``, then answers ``[Enough]``, or ``[Continue]`` with a better query; and so on.

    It submits the hits of the final query, since in the paper the model "refines its
    final query generation based on the discovered information from intermediate retrievals":
    hits of earlier queries shape that query, and enter the ranking only if it returns them
    again. Papers judged relevant in any round come first, then those not judged, then those judged
    irrelevant, each in the engine's order. A query without hits leaves the ranking as it is.

    It stops when the model decides so, when it repeats a query, when none of its judgements
    can be read, and when rounds or searches run out. Without a first query it begins with
    the topic, as `title` does.

    Args:
        seed: Seed of the episode.
        max_rounds: Most searches, 1 to 100. In r rounds the model writes at most r queries, and
            answers r requests for judgements if one request takes all papers of a round.
        judged: Hits at the top of a round that are judged, 1 to 1000; each paper once.
        batch: Papers that are judged in one request, 1 to 1000.
        abstracts: Whether to read the abstracts of the papers to judge, as far as the budget
            allows; otherwise they are judged by their titles.
        k: Hits per query, 1 to 1000; fewer where the environment allows no more.
        options: Options of `LLMAgent`.

    Raises:
        DataError: An option is unknown or out of its range.
    """

    folder = "self-rag"
    templates = {  # noqa: RUF012
        "query": Fields(required=("topic",), optional=("cutoff",)),
        "judge": Fields(required=("topic", "papers"), optional=("cutoff", "query")),
        "refine": Fields(
            required=("topic", "relevant"), optional=("cutoff", "irrelevant", "tried")
        ),
    }

    def __init__(
        self,
        seed: int = 0,
        max_rounds: int = 3,
        judged: int = 20,
        batch: int = 20,
        abstracts: bool = False,
        k: int = 100,
        **options: Any,
    ) -> None:
        super().__init__(seed, **options)
        self._max_rounds = whole("max_rounds", max_rounds, 1, 100)
        self._judged = whole("judged", judged, 1, 1000)
        self._batch = whole("batch", batch, 1, 1000)
        self._abstracts = flag("abstracts", abstracts)
        self._k = whole("k", k, 1, 1000)

    def discover(self, desk: Desk) -> Steps[None]:
        """Search, judge and refine until the query is good enough."""
        first = self.ask("query", first_query, topic=desk.topic, cutoff=desk.cutoff)
        query, wanted = first or (desk.topic, True)
        tried: list[str] = []
        relevant: dict[str, bool] = {}  # paper -> judgement
        while True:
            tried.append(query)
            hits = [hit.id for hit in (yield from desk.search(query, self._k))]
            desk.ranking = in_order(hits or desk.ranking, relevant)
            if not wanted:
                return
            unseen = [i for i in hits[: self._judged] if i not in relevant]
            for paper_id in unseen if self._abstracts else ():
                yield from desk.read(paper_id)
            judged = judgements(self, desk, unseen, self._batch, self._abstracts, query=query)
            if unseen and not judged:
                return  # nothing to refine by
            relevant |= judged
            desk.ranking = in_order(desk.ranking, relevant)
            if len(tried) == self._max_rounds or not desk.searches_left:
                return
            query = self._refined(desk, tried, relevant)
            if not query or query.lower() in map(str.lower, tried):
                return

    def _refined(self, desk: Desk, tried: Sequence[str], relevant: Mapping[str, bool]) -> str:
        """Return the next query, empty if the last one is the final one."""
        known = {"topic": desk.topic, "cutoff": desk.cutoff}
        known["tried"] = "\n".join(f"{n}. {query}" for n, query in enumerate(tried, start=1))
        for name, verdict in (("relevant", True), ("irrelevant", False)):
            papers = [desk.papers[i] for i, judged in relevant.items() if judged is verdict]
            known[name] = listed(papers, abstracts=False) or "(none)"
        return self.ask("refine", next_query, **known) or ""


def in_order(ranking: Sequence[str], relevant: Mapping[str, bool]) -> list[str]:
    """Return ids with the relevant ones first and the irrelevant ones last, otherwise in order."""
    place = {True: 0, None: 1, False: 2}
    return sorted(ranking, key=lambda paper_id: place[relevant.get(paper_id)])
