"""F1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.metrics.base import ScoreContext, metric
from arena.metrics.precision import precision
from arena.metrics.recall import recall


@metric("f1", "ranking")
def f1(ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext) -> float:
    """Harmonic mean of precision and recall, both at `k`.

    f1@k = 2 * precision@k * recall@k / (precision@k + recall@k), in [0, 1]; 0 if nothing is found.

    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7; equals ranx's ``f1``.

    Precision 1 / 2 and recall 1 / 2:

    >>> f1(["a", "x"], {"a": 2, "b": 1})
    0.5
    """
    p, r = (each.score(ranking, gains, context) or 0.0 for each in (precision, recall))
    return 2 * p * r / (p + r) if p + r else 0.0
