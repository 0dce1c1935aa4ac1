"""R-precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.errors import DataError
from arena.metrics.base import METRICS, checked


@METRICS.register("r-precision")
def r_precision(ranking: Sequence[str], gains: Mapping[str, int], k: int | None = None) -> float:
    """Precision at R, where R is the number of gold ids.

    |top R ∩ gold| / R, in [0, 1]; there precision equals recall.

    Source: the measure ``Rprec`` of trec_eval; equals ranx's ``r-precision``.

    Args:
        ranking: Distinct ids, best first.
        gains: Gold id to integer gain; a gain of at least 1 is relevant.
        k: None; the gold gives the cutoff.

    Raises:
        DataError: No gold, a repeated id, or a cutoff.

    Two gold ids, one of them among the first two:

    >>> r_precision(["a", "x", "b"], {"a": 2, "b": 1})
    0.5
    """
    if k is not None:
        raise DataError(f"r-precision@{k}: r-precision takes no cutoff. Write 'r-precision'.")
    top, gold = checked(ranking, gains, k)
    return sum(document in gold for document in top[: len(gold)]) / len(gold)
