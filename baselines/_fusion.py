"""One ranking out of many."""

from __future__ import annotations

from collections.abc import Sequence

from arena.agents import Hit

RRF_K = 60
"""The constant of Cormack, Clarke and Büttcher, SIGIR 2009."""


def reciprocal_rank_fusion(
    rankings: Sequence[Sequence[str]], weights: Sequence[float] | None = None, k: float = RRF_K
) -> list[str]:
    """Return ids by the sum of ``weight / (k + rank)`` over the rankings that hold them.

    Args:
        rankings: ids, best first; the first has rank 1. A repeated id counts at its first place.
        weights: of each ranking; 1 by default.
        k: the larger, the less the first places count.

    Returns:
        Ids, best first; ties in order of their first appearance, ranking by ranking.
    """
    sums: dict[str, float] = {}
    for ranking, weight in zip(rankings, weights or [1.0] * len(rankings), strict=True):
        for rank, paper_id in enumerate(dict.fromkeys(ranking), start=1):
            sums[paper_id] = sums.get(paper_id, 0.0) + weight / (k + rank)
    return sorted(sums, key=lambda paper_id: -sums[paper_id])


def score_fusion(found: Sequence[Sequence[Hit]]) -> list[str]:
    """Return ids by their highest score, as if all hits were one list sorted by score.

    Args:
        found: the hits of each query, all by one search engine.

    Returns:
        Ids, best first; ties in order of their first appearance.
    """
    best: dict[str, float] = {}
    for hits in found:
        for hit in hits:
            best[hit.id] = max(hit.score, best.get(hit.id, hit.score))
    return sorted(best, key=lambda paper_id: -best[paper_id])
