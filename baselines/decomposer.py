"""Decomposer: a language model splits the topic into sub-questions and writes a query for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from arena._internal.options import choice, whole
from arena.agents import AGENTS, Desk, Hit, Steps
from arena.llm import Fields, LLMAgent
from baselines.parts.asking import queries

FUSIONS = ("rrf", "score")
RRF_K = 60
"""Constant of Cormack, Clarke and Büttcher, SIGIR 2009."""


@AGENTS.register("decomposer")
class Decomposer(LLMAgent):
    """Queries for sub-questions of the topic, their hits fused (ResearchArena, section 6.1).

    The model writes sub-questions and queries in one answer. The queries are searched one after
    the other, as far as the budget allows. If the model writes no query, it searches for the
    topic, as `title` does.

    Args:
        seed: Seed of the episode.
        fusion: ``"rrf"``: by reciprocal rank, as the paper says. ``"score"``: all hits sorted by
            the engine's raw score, as the code that the paper released does.
        max_queries: Most queries to search for, 1 to 1000; the first that the model wrote.
        k: Hits per query, 1 to 1000; fewer where the environment allows no more.
        options: Options of `LLMAgent`.

    Raises:
        DataError: An option is unknown or out of its range.
    """

    folder = "decomposer"
    templates = {"decompose": Fields(required=("topic",), optional=("cutoff",))}  # noqa: RUF012

    def __init__(
        self,
        seed: int = 0,
        fusion: str = "rrf",
        max_queries: int = 20,
        k: int = 100,
        **options: Any,
    ) -> None:
        super().__init__(seed, **options)
        self._fusion = choice("fusion", fusion, FUSIONS)
        self._max_queries = whole("max_queries", max_queries, 1, 1000)
        self._k = whole("k", k, 1, 1000)

    def discover(self, desk: Desk) -> Steps[None]:
        """Search for every part, then fuse."""
        parts = self.ask("decompose", queries, topic=desk.topic, cutoff=desk.cutoff)
        lists = yield from desk.search_many((parts or [desk.topic])[: self._max_queries], self._k)
        if self._fusion == "score":
            desk.ranking = score_fusion(lists)
        else:
            desk.ranking = reciprocal_rank_fusion([[hit.id for hit in hits] for hits in lists])


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[str]], weights: Sequence[float] | None = None, k: float = RRF_K
) -> list[str]:
    """Return ids by the sum of ``weight / (k + rank)`` over the rankings that hold them.

    Args:
        rankings: Lists of ids, best first, from rank 1. A repeated id counts at its first place.
        weights: Weight of each ranking; 1 by default.
        k: The larger `k`, the less the first ranks count.

    Returns:
        Ids, best first; ties in order of their first appearance, ranking by ranking.
    """
    sums: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, paper_id in enumerate(dict.fromkeys(ranking), start=1):
            sums[paper_id] = sums.get(paper_id, 0.0) + weight / (k + rank)
    return sorted(sums, key=lambda paper_id: -sums[paper_id])


def score_fusion(lists: Sequence[Sequence[Hit]]) -> list[str]:
    """Return ids by their highest score, as if all hits were one list sorted by score.

    Args:
        lists: Hits of each query, all by one search engine.

    Returns:
        Ids, best first; ties in order of their first appearance.
    """
    best: dict[str, float] = {}
    for hits in lists:
        for hit in hits:
            best[hit.id] = max(hit.score, best.get(hit.id, hit.score))
    return sorted(best, key=lambda paper_id: -best[paper_id])
