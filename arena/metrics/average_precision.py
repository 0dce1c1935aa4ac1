"""Average precision."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from arena.metrics.base import ScoreContext, checked, metric


@metric("map", "ranking")
def average_precision(
    ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext
) -> float:
    """Precision at the rank of each gold id, over all gold; its mean over queries is the MAP.

    map@k = sum over the ranks i <= k of gold ids of (|top i ∩ gold| / i) / |gold|, in [0, 1].

    Source: Buckley and Voorhees, Evaluating evaluation measure stability, SIGIR 2000; equals
    ranx's ``map``.

    Gold at the ranks 1 and 4, of four gold ids: (1 / 1 + 2 / 4) / 4.

    >>> average_precision(["a", "x", "y", "b"], {"a": 2, "b": 1, "c": 1, "d": 1})
    0.375
    """
    top, gold = checked(ranking, gains, context)
    ranks = [rank for rank, document in enumerate(top, 1) if document in gold]
    return math.fsum(found / rank for found, rank in enumerate(ranks, 1)) / len(gold)
