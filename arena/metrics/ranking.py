"""The metrics of rankings."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from arena.errors import DataError
from arena.metrics.base import METRICS, checked


@METRICS.register("precision")
def precision(ranking: Sequence[str], gains: Mapping[str, int], k: int | None = None) -> float:
    """Share of the first `k` places that hold gold.

    precision@k = |top k ∩ gold| / k, in [0, 1]. A ranking shorter than `k` is divided by `k` all
    the same: a place left empty is a miss. Without a cutoff the denominator is the length of the
    ranking, and an empty ranking scores 0.

    Source: ResearchArena (arXiv:2406.10291), section 5, Information Discovery, with k 10 and 100;
    equals ranx's ``precision``.

    Args:
        ranking: Distinct ids, best first.
        gains: Gold id to integer gain; a gain of at least 1 is relevant.
        k: Cutoff of at least 1; None for the whole ranking.

    Raises:
        DataError: No gold, a repeated id, or a bad cutoff.

    Two hits in three retrieved: 2 / 4 at cutoff 4.

    >>> precision(["a", "x", "b"], {"a": 2, "b": 1, "c": 1}, k=4)
    0.5
    """
    top, gold = checked(ranking, gains, k)
    places = len(top) if k is None else k
    return sum(document in gold for document in top) / places if places else 0.0


@METRICS.register("recall")
def recall(ranking: Sequence[str], gains: Mapping[str, int], k: int | None = None) -> float:
    """Share of the gold that is among the first `k`.

    recall@k = |top k ∩ gold| / |gold|, in [0, 1]. The denominator is all gold even when it
    exceeds `k`, so that 1 may be out of reach.

    Source: ResearchArena (arXiv:2406.10291), section 5, Information Discovery, with k 10 and 100;
    equals ranx's ``recall``.

    Args:
        ranking: Distinct ids, best first.
        gains: Gold id to integer gain; a gain of at least 1 is relevant.
        k: Cutoff of at least 1; None for the whole ranking.

    Raises:
        DataError: No gold, a repeated id, or a bad cutoff.

    Gold a, b, c, d, of which a and b are in the first three: 2 / 4.

    >>> recall(["a", "x", "b", "c"], {"a": 2, "b": 1, "c": 1, "d": 1}, k=3)
    0.5
    """
    top, gold = checked(ranking, gains, k)
    return sum(document in gold for document in top) / len(gold)


@METRICS.register("f1")
def f1(ranking: Sequence[str], gains: Mapping[str, int], k: int | None = None) -> float:
    """Harmonic mean of precision and recall, both at `k`.

    f1@k = 2 * precision@k * recall@k / (precision@k + recall@k), in [0, 1]; 0 if nothing is found.

    Source: van Rijsbergen, Information Retrieval, 1979, chapter 7; equals ranx's ``f1``.

    Args:
        ranking: Distinct ids, best first.
        gains: Gold id to integer gain; a gain of at least 1 is relevant.
        k: Cutoff of at least 1; None for the whole ranking.

    Raises:
        DataError: No gold, a repeated id, or a bad cutoff.

    Precision 1 / 2 and recall 1 / 2:

    >>> f1(["a", "x"], {"a": 2, "b": 1})
    0.5
    """
    p, r = precision(ranking, gains, k), recall(ranking, gains, k)
    return 2 * p * r / (p + r) if p + r else 0.0


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


@METRICS.register("map")
def average_precision(
    ranking: Sequence[str], gains: Mapping[str, int], k: int | None = None
) -> float:
    """Precision at the rank of each gold id, over all gold; its mean over queries is the MAP.

    map@k = sum over the ranks i <= k of gold ids of (|top i ∩ gold| / i) / |gold|, in [0, 1].

    Source: Buckley and Voorhees, Evaluating evaluation measure stability, SIGIR 2000; equals
    ranx's ``map``.

    Args:
        ranking: Distinct ids, best first.
        gains: Gold id to integer gain; a gain of at least 1 is relevant.
        k: Cutoff of at least 1; None for the whole ranking.

    Raises:
        DataError: No gold, a repeated id, or a bad cutoff.

    Gold at the ranks 1 and 4, of four gold ids: (1 / 1 + 2 / 4) / 4.

    >>> average_precision(["a", "x", "y", "b"], {"a": 2, "b": 1, "c": 1, "d": 1})
    0.375
    """
    top, gold = checked(ranking, gains, k)
    ranks = [rank for rank, document in enumerate(top, 1) if document in gold]
    return math.fsum(found / rank for found, rank in enumerate(ranks, 1)) / len(gold)


@METRICS.register("mrr")
def mrr(ranking: Sequence[str], gains: Mapping[str, int], k: int | None = None) -> float:
    """Reciprocal rank of the first gold id; its mean over queries is the MRR.

    1 / rank of the first id with a gain of at least 1, ranks from 1; 0 if there is none among the
    first `k`. In [0, 1]. Influential and other gold count alike.

    Source: Voorhees, TREC-8 Question Answering Track Report, 1999, as used by ResearchArena
    (arXiv:2406.10291), section 5, Information Selection; equals ranx's ``mrr``.

    Args:
        ranking: Distinct ids, best first.
        gains: Gold id to integer gain; a gain of at least 1 is relevant.
        k: Cutoff of at least 1; None for the whole ranking.

    Raises:
        DataError: No gold, a repeated id, or a bad cutoff.

    The first gold id is second: 1 / 2.

    >>> mrr(["x", "b", "a"], {"a": 2, "b": 1})
    0.5
    """
    top, gold = checked(ranking, gains, k)
    return next((1 / rank for rank, document in enumerate(top, 1) if document in gold), 0.0)


@METRICS.register("hit_rate")
@METRICS.register("success")
def success(ranking: Sequence[str], gains: Mapping[str, int], k: int | None = None) -> float:
    """Whether a gold id is among the first `k`: 1 or 0.

    Source: the measure ``success`` of trec_eval; equals ranx's ``hit_rate``, which is another name
    of it here.

    Args:
        ranking: Distinct ids, best first.
        gains: Gold id to integer gain; a gain of at least 1 is relevant.
        k: Cutoff of at least 1; None for the whole ranking.

    Raises:
        DataError: No gold, a repeated id, or a bad cutoff.

    >>> success(["x", "a"], {"a": 1}, k=1), success(["x", "a"], {"a": 1}, k=2)
    (0.0, 1.0)
    """
    top, gold = checked(ranking, gains, k)
    return float(any(document in gold for document in top))


@METRICS.register("ndcg")
def ndcg(ranking: Sequence[str], gains: Mapping[str, int], k: int | None = None) -> float:
    """Discounted gain of the first `k`, relative to the best possible ranking.

    nDCG@k = DCG@k / IDCG@k, DCG@k = sum over ranks i = 1..k of gain_i / log2(i + 1), where IDCG
    is the DCG of all gold sorted by decreasing gain and cut at `k`. In [0, 1]; 1 exactly if no
    ranking is better. The gain is linear (not 2^gain - 1).

    Source: Järvelin and Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 20(4),
    2002, with the discount log2(i + 1) of trec_eval; as used by ResearchArena (arXiv:2406.10291),
    section 5, Information Selection; equals ranx's ``ndcg``.

    Args:
        ranking: Distinct ids, best first.
        gains: Gold id to integer gain (2 influential, 1 other); below 1 counts as 0.
        k: Cutoff of at least 1; None for the whole ranking, with all gold in the ideal.

    Raises:
        DataError: No gold, a repeated id, or a bad cutoff.

    Gains 0, 0, 2 against the ideal 2, 0, 0: (2 / log2(4)) / (2 / log2(2)) = 1 / 2.

    >>> ndcg(["x", "y", "a"], {"a": 2}, k=10)
    0.5
    """
    top, gold = checked(ranking, gains, k)
    ideal = sorted(gold.values(), reverse=True)[:k]
    return _dcg(gold.get(document, 0) for document in top) / _dcg(ideal)


def _dcg(gains: Iterable[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1) if gain)
