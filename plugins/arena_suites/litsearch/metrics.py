"""LitSearch: recall of a kind of queries, and nDCG as its code computes it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from arena.metrics import METRICS, ScoreContext, checked, metric


@metric("ndcg_by_rank", "ranking")
def ndcg_by_rank(ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext) -> float:
    """NDCG as LitSearch's code has it: a gain is divided by its rank, in [0, 1].

    DCG@k = sum over ranks i = 1..k of gain_i / i, over that of the best ranking. `ndcg` divides by
    log2(i + 1), as the tables of the paper (arXiv:2407.18940) do: compare these with that one.

    Gold at rank 3 alone, and the best is rank 1: (1 / 3) / (1 / 1); `ndcg` is 1 / 2.

    >>> round(ndcg_by_rank(["x", "y", "a"], {"a": 1}, k=10), 4)
    0.3333
    """
    top, gold = checked(ranking, gains, context)
    ideal = sorted(gold.values(), reverse=True)[: context.k]
    gain, best = (
        math.fsum(each / rank for rank, each in enumerate(found, 1))
        for found in ([gold.get(paper, 0) for paper in top], ideal)
    )
    return gain / best


def _split(base: str, wanted: Mapping[str, str]) -> None:
    """Register a metric of the queries of a kind, which other queries do not count in."""

    def score(
        ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext
    ) -> float | None:
        known = {} if context.tasks is None else context.tasks.labels(context.topic_id)
        fits = known.items() >= wanted.items()
        return METRICS.get(base).score(ranking, gains, context) if fits else None

    kind = " ".join(wanted.values())
    score.__doc__ = f"`{base}` over LitSearch's {kind} queries alone; other queries have none."
    metric("_".join([*wanted.values(), base]), "ranking", needs=["corpus"])(score)


for _kind in ("broad", "specific"):
    _split("ndcg", {"specificity": _kind})
    _split("recall", {"specificity": _kind})
    for _family in ("inline", "author"):
        _split("recall", {"family": _family, "specificity": _kind})
