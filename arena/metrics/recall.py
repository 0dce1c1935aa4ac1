"""Recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.metrics.base import ScoreContext, checked, metric


@metric("recall", "ranking")
def recall(ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext) -> float:
    """Share of the gold that is among the first `k`.

    recall@k = |top k ∩ gold| / |gold|, in [0, 1]. The denominator is all gold even when it
    exceeds `k`, so that 1 may be out of reach.

    Source: ResearchArena (arXiv:2406.10291), section 5, Information Discovery, with k 10 and 100;
    equals ranx's ``recall``.

    Paper: ResearchArena, section 5; whether references that the corpus lacks count is not said.
    Released: no metrics in the authors' code.
    Here: over the references in reach: in the corpus, dated before the topic, no survey.

    Gold a, b, c, d, of which a and b are in the first three: 2 / 4.

    >>> recall(["a", "x", "b", "c"], {"a": 2, "b": 1, "c": 1, "d": 1}, k=3)
    0.5
    """
    top, gold = checked(ranking, gains, context)
    return len(gold.keys() & top) / len(gold)
