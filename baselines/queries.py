"""Zero-shot, decomposer and self-RAG: a language model writes the queries.

To decide what follows, the model of self-RAG writes a token: ``[Retrieve]`` or ``[No Retrieve]``,
``[Enough]`` or ``[Continue]``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, Literal

from annotated_types import Interval

from arena.agents import Desk, Hit, Steps, agent
from arena.llm import Fields, LLMAgent, ParseError, unfenced, without_thoughts
from baselines.parts.asking import judgements, listed, queries, query_in

_TAG = re.compile(r"</?\s{0,5}queries[^<>\n]{0,100}>", re.IGNORECASE)
# Two sentences, a question or a shout: the model talks. A query may contain "vs." and "et al.".
_TALK = re.compile(r"[a-z]{3}[.!?]\s+[A-Z]|[?!]$")
# In brackets anywhere, or a line of its own.
_NO = r"no[\s_-]?retriev(?:e|al)"
_RETRIEVE = re.compile(
    rf"[\[(<*]{{1,3}}\s?(?:({_NO})|retriev(?:e|al))\s?[\])>*]{{1,3}}"
    rf"|^[^\w\n]{{0,5}}(?:({_NO})|retrieve)(?=[^\w\n]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_STOP = re.compile(
    r"[\[(<*]{1,3}\s?(enough|continue)\s?[\])>*]{1,3}"
    r"|^[^\w\n]{0,5}(enough|continue)(?=[^\w\n]*$|:)",
    re.IGNORECASE | re.MULTILINE,
)

RRF_K = 60


def one_query(text: str) -> str:
    """Return the query in ``<Queries>``, or without that tag the first line of the answer.

    The paper's own prompt for zero-shot asks for no tag, so an answer may be the bare query.
    """
    try:
        return queries(text)[0]
    except ParseError:
        pass
    plain = unfenced(_TAG.sub("\n", without_thoughts(text)))
    lines = [line for line in map(query_in, plain.splitlines()) if line]
    # "Here is a query:" announces what stands in the next line.
    line = next((line for line in lines if not line.endswith(":")), "")
    if not line or _TALK.search(line):
        raise ParseError("there is no query in the answer.")
    return line


def first_query(text: str) -> tuple[str, bool]:
    """Return a query, and whether the model wants to read its hits.

    Without a token it does, since the paper's own prompt asks for a query alone.
    """
    text = without_thoughts(text)
    tokens = list(_RETRIEVE.finditer(text))
    wanted = not (tokens and (tokens[-1][1] or tokens[-1][2]))
    return one_query(_RETRIEVE.sub("\n", text)), wanted


def next_query(text: str) -> str:
    """Return a better query, empty if the last one was enough."""
    text = without_thoughts(text)
    tokens = list(_STOP.finditer(text))
    if not tokens:
        return queries(text)[0]
    last = tokens[-1]
    if (last[1] or last[2]).lower() == "enough":
        return ""
    try:
        return queries(text)[0]
    except ParseError:
        return one_query(text[last.end() :].lstrip(": "))


@agent("zero-shot")
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


@agent("decomposer")
class Decomposer(LLMAgent):
    """Queries for sub-questions of the topic, their hits fused (ResearchArena, section 6.1).

    The model writes sub-questions and queries in one answer. The queries are searched one after
    the other, as far as the budget allows. If the model writes no query, it searches for the
    topic, as `title` does.

    Args:
        fusion: ``"rrf"``: by reciprocal rank, as the paper says. ``"score"``: all hits sorted by
            the engine's raw score, as the code that the paper released does.
        max_queries: Most queries to search for, 1 to 1000; the first that the model wrote.
        k: Hits per query, 1 to 1000; fewer where the environment allows no more.
    """

    folder = "decomposer"
    templates = {"decompose": Fields(required=("topic",), optional=("cutoff",))}  # noqa: RUF012

    def __init__(
        self,
        seed: int = 0,
        fusion: Literal["rrf", "score"] = "rrf",
        max_queries: Annotated[int, Interval(ge=1, le=1000)] = 20,
        k: Annotated[int, Interval(ge=1, le=1000)] = 100,
        **options: Any,
    ) -> None:
        super().__init__(seed, **options)
        self._fusion, self._max_queries, self._k = fusion, max_queries, k

    def discover(self, desk: Desk) -> Steps[None]:
        """Search for every part, then fuse."""
        parts = self.ask("decompose", queries, topic=desk.topic, cutoff=desk.cutoff)
        lists = yield from desk.search_many((parts or [desk.topic])[: self._max_queries], self._k)
        if self._fusion == "score":
            desk.ranking = score_fusion(lists)
        else:
            desk.ranking = reciprocal_rank_fusion(lists)


def reciprocal_rank_fusion(lists: Sequence[Sequence[Hit]]) -> list[str]:
    """Return ids by the sum of ``1 / (RRF_K + rank)`` over the lists with them, from rank 1.

    The constant is that of Cormack, Clarke and Büttcher, SIGIR 2009. A repeated id counts at its
    first place. Ties are in order of their first appearance, list by list.
    """
    sums: dict[str, float] = {}
    for hits in lists:
        for rank, paper_id in enumerate(dict.fromkeys(hit.id for hit in hits), start=1):
            sums[paper_id] = sums.get(paper_id, 0.0) + 1 / (RRF_K + rank)
    return sorted(sums, key=lambda paper_id: -sums[paper_id])


def score_fusion(lists: Sequence[Sequence[Hit]]) -> list[str]:
    """Return ids by their highest score, as if all hits were one list sorted by score.

    The hits are of one search engine. Ties are in order of their first appearance.
    """
    best: dict[str, float] = {}
    for hit in chain(*lists):
        best[hit.id] = max(hit.score, best.get(hit.id, hit.score))
    return sorted(best, key=lambda paper_id: -best[paper_id])


@agent("self-rag")
class SelfRAG(LLMAgent):
    """Zero-shot that refines its query by its hits (Asai et al.; ResearchArena, section 6.1).

    The model writes a query and decides whether to read its hits: ``[Retrieve]`` or
    ``[No Retrieve]``. If so, it judges each of the first hits, ``[Relevant]`` or
    ``[Irrelevant]``, then answers ``[Enough]``, or ``[Continue]`` with a better query; and so on.

    It submits the hits of the final query alone, in the engine's order: in the paper the model
    "refines its final query generation based on the discovered information from intermediate
    retrievals", and papers "are ranked based on the similarity scores". A query without hits leaves
    the ranking as it is.

    It stops when the model decides so, repeats a query or writes no readable judgement, and when
    rounds or searches run out. Without a first query it begins with the topic, as `title` does.

    Args:
        max_rounds: Most searches, 1 to 100. In r rounds the model writes at most r queries, and
            answers r requests for judgements if one request takes all papers of a round.
        judged: Hits at the top of a round that are judged, 1 to 1000; each paper once.
        batch: Papers that are judged in one request, 1 to 1000.
        abstracts: Whether to read the abstracts of the papers to judge, as far as the budget
            allows; otherwise they are judged by their titles.
        k: Hits per query, 1 to 1000; fewer where the environment allows no more.
        rerank: Whether papers judged relevant in any round come first, then those not judged, then
            those judged irrelevant, each in the engine's order. Not in the paper.
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
        max_rounds: Annotated[int, Interval(ge=1, le=100)] = 3,
        judged: Annotated[int, Interval(ge=1, le=1000)] = 20,
        batch: Annotated[int, Interval(ge=1, le=1000)] = 20,
        abstracts: bool = False,
        k: Annotated[int, Interval(ge=1, le=1000)] = 100,
        rerank: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(seed, **options)
        self._max_rounds, self._judged, self._batch = max_rounds, judged, batch
        self._abstracts, self._k, self._rerank = abstracts, k, rerank

    def discover(self, desk: Desk) -> Steps[None]:
        """Search, judge and refine until the query is good enough."""
        first = self.ask("query", first_query, topic=desk.topic, cutoff=desk.cutoff)
        query, wanted = first or (desk.topic, True)
        tried: list[str] = []
        relevant: dict[str, bool] = {}  # paper -> judgement
        while True:
            tried.append(query)
            hits = [hit.id for hit in (yield from desk.search(query, self._k))]
            desk.ranking = self._ranked(hits or desk.ranking, relevant)
            if not wanted:
                return
            unseen = [i for i in hits[: self._judged] if i not in relevant]
            for paper_id in unseen if self._abstracts else ():
                yield from desk.read(paper_id)
            judged = judgements(self, desk, unseen, self._batch, self._abstracts, query=query)
            if unseen and not judged:
                return  # nothing to refine by
            relevant |= judged
            desk.ranking = self._ranked(desk.ranking, relevant)
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

    def _ranked(self, hits: Sequence[str], relevant: Mapping[str, bool]) -> list[str]:
        place = {True: 0, None: 1, False: 2}
        return sorted(hits, key=lambda i: place[relevant.get(i)] if self._rerank else 0)
