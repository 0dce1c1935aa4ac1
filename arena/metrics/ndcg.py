"""Normalized discounted cumulative gain."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from arena.metrics.base import ScoreContext, checked, metric


@metric("ndcg", "ranking")
def ndcg(ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext) -> float:
    """Discounted gain of the first `k`, relative to the best possible ranking.

    nDCG@k = DCG@k / IDCG@k, DCG@k = sum over ranks i = 1..k of gain_i / log2(i + 1), where IDCG
    is the DCG of all gold sorted by decreasing gain and cut at `k`. In [0, 1]; 1 exactly if no
    ranking is better. The gain is linear (not 2^gain - 1).

    Source: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4),
    2002, with the discount log2(i + 1) of trec_eval; as used by ResearchArena (arXiv:2406.10291),
    section 5, Information Selection; equals ranx's ``ndcg``.

    Paper: ResearchArena, section 5; gains and discount are not given.
    Released: no metrics in the authors' code.
    Here: gains 2 for influential and 1 for other references, discount log2(rank + 1).

    Gains 0, 0, 2 against the ideal 2, 0, 0: (2 / log2(4)) / (2 / log2(2)) = 1 / 2.

    >>> ndcg(["x", "y", "a"], {"a": 2}, k=10)
    0.5
    """
    top, gold = checked(ranking, gains, context)
    ideal = sorted(gold.values(), reverse=True)[: context.k]
    return _dcg(gold.get(document, 0) for document in top) / _dcg(ideal)


def _dcg(gains: Iterable[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1) if gain)
