"""Self-RAG: a language model looks at what its query finds, judges it, and refines the query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.agents import AGENTS, Desk, Steps
from arena.llm import Fields, LLMAgent
from baselines.parts.asking import first_query, judgements, listed, next_query
from baselines.parts.options import flag, whole


@AGENTS.register("self-rag")
class SelfRAG(LLMAgent):
    """Zero-shot that refines its query by what it finds (Asai et al.; ResearchArena, section 6.1).

    The model writes a query and says whether it wants to see what that finds: ``[Retrieve]`` or
    ``[No Retrieve]``. If so, it judges each of the first hits, ``[Relevant]`` or
    ``[Irrelevant]``, then says ``[Enough]``, or ``[Continue]`` with a better query; and so on.

    What is handed in are the hits of the final query, since in the paper the model "refines its
    final query generation based on the discovered information from intermediate retrievals":
    what earlier queries found shapes that query, and enters the ranking only if it finds it
    again. Those judged relevant in any round come first, then those not judged, then those judged
    irrelevant, each in the engine's order. A query that finds nothing leaves the ranking before it.

    It stops when the model says so, when it repeats a query, when none of its judgements
    can be read, and when rounds or searches run out. Without a first query it begins with
    the topic, as `title` does.

    Args:
        seed: of the episode.
        max_rounds: searches, 1 to 100. With r rounds the model is asked at most r times for a
            query, and r times for judgements if one request takes them all.
        judged: of the hits of a round the first so many are judged, 1 to 1000; a paper once.
        batch: papers that are judged in one request, 1 to 1000.
        abstracts: read the abstracts of the papers to judge, as far as the reads reach; else they
            are judged by their titles.
        k: hits of a query, 1 to 1000; fewer where the environment allows no more.
        options: see `LLMAgent`.

    Raises:
        DataError: if an option is unknown or out of its range.
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
        relevant: dict[str, bool] = {}  # of the papers that were judged
        while True:
            tried.append(query)
            found = [hit.id for hit in (yield from desk.search(query, self._k))]
            desk.ranking = in_order(found or desk.ranking, relevant)
            if not wanted:
                return
            unseen = [i for i in found[: self._judged] if i not in relevant]
            judged = yield from self._judge(desk, query, unseen)
            if unseen and not judged:
                return  # nothing to refine by
            relevant |= judged
            desk.ranking = in_order(desk.ranking, relevant)
            if len(tried) == self._max_rounds or not desk.searches_left:
                return
            query = self._refined(desk, tried, relevant)
            if not query or query.lower() in map(str.lower, tried):
                return

    def _judge(self, desk: Desk, query: str, papers: Sequence[str]) -> Steps[dict[str, bool]]:
        """Return which papers are relevant, as far as an answer says so."""
        if self._abstracts:
            for paper_id in papers:
                yield from desk.read(paper_id)
        return judgements(self, desk, papers, self._batch, self._abstracts, query=query)

    def _refined(self, desk: Desk, tried: Sequence[str], relevant: Mapping[str, bool]) -> str:
        """Return the next query, or nothing if the last one is the final one."""
        by_verdict = {
            verdict: listed(
                [desk.papers[i] for i, judged in relevant.items() if judged is verdict],
                abstracts=False,
            )
            for verdict in (True, False)
        }
        query = self.ask(
            "refine",
            next_query,
            topic=desk.topic,
            cutoff=desk.cutoff,
            tried="\n".join(f"{number}. {query}" for number, query in enumerate(tried, start=1)),
            relevant=by_verdict[True] or "(none)",
            irrelevant=by_verdict[False] or "(none)",
        )
        return query or ""


def in_order(found: Sequence[str], relevant: Mapping[str, bool]) -> list[str]:
    """Return ids with the relevant ones first and the irrelevant ones last, else as they were."""
    place = {True: 0, None: 1, False: 2}
    return sorted(found, key=lambda paper_id: place[relevant.get(paper_id)])
