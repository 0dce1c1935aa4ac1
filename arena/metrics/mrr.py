"""Reciprocal rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from arena.metrics.base import ScoreContext, checked, metric


@metric("mrr", "ranking")
def mrr(ranking: Sequence[str], gains: Mapping[str, int], context: ScoreContext) -> float:
    """Reciprocal rank of the first gold id; its mean over queries is the MRR.

    1 / rank of the first id with a gain of at least 1, ranks from 1; 0 if there is none among the
    first `k`. In [0, 1]. Influential and other gold count alike.

    Source: Voorhees, TREC-8 Question Answering Track Report, 1999, as used by ResearchArena
    (arXiv:2406.10291), section 5, Information Selection; equals ranx's ``mrr``.

    Paper: ResearchArena, section 5; which references count is not given.
    Released: no metrics in the authors' code.
    Here: the first reference, influential or not.

    The first gold id is second: 1 / 2.

    >>> mrr(["x", "b", "a"], {"a": 2, "b": 1})
    0.5
    """
    top, gold = checked(ranking, gains, context)
    return next((1 / rank for rank, document in enumerate(top, 1) if document in gold), 0.0)
