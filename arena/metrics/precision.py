"""Precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.metrics.base import ScoreContext, checked, metric


@metric("precision", "ranking")
def precision(ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext) -> float:
    """Share of the first `k` places that are gold.

    precision@k = |top k ∩ gold| / k, in [0, 1]. A ranking shorter than `k` is divided by `k` all
    the same: a place left empty is a miss. Without a cutoff the denominator is the length of the
    ranking, and an empty ranking scores 0.

    Source: ResearchArena (arXiv:2406.10291), section 5, Information Discovery, with k 10 and 100;
    equals ranx's ``precision``.

    Paper: ResearchArena, section 5.
    Released: no metrics in the authors' code.
    Here: divided by k, also where fewer papers are submitted.

    Two hits in three retrieved: 2 / 4 at cutoff 4.

    >>> precision(["a", "x", "b"], {"a": 2, "b": 1, "c": 1}, k=4)
    0.5
    """
    top, gold = checked(ranking, gains, context)
    places = len(top) if context.k is None else context.k
    return len(gold.keys() & top) / places if places else 0.0
