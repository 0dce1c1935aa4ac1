"""R-precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.errors import DataError
from arena.metrics.base import ScoreContext, checked, metric


@metric("r-precision", "ranking")
def r_precision(ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext) -> float:
    """Precision at R, where R is the number of gold ids.

    |top R ∩ gold| / R, in [0, 1]; there precision equals recall.

    Source: the measure ``Rprec`` of trec_eval; equals ranx's ``r-precision``.

    Two gold ids, one of them among the first two:

    >>> r_precision(["a", "x", "b"], {"a": 2, "b": 1})
    0.5
    """
    if context.k is not None:
        raise DataError("r-precision takes no cutoff. Write 'r-precision'.")
    top, gold = checked(ranking, gains, context)
    return sum(document in gold for document in top[: len(gold)]) / len(gold)
