"""What a metric is, the checks that all metrics share, and metrics by name."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Protocol

from arena._internal.options import parameters_of
from arena.errors import DataError, clip
from arena.registry import Registry

_CUTOFF = re.compile(r"[1-9][0-9]{0,8}")  # no leading zero: one metric has one name


class Metric(Protocol):
    """A score of one ranking against one query's gold."""

    def __call__(
        self, ranking: Sequence[str], gains: Mapping[str, int], k: int | None = None
    ) -> float:
        """Return the score.

        Args:
            ranking: Distinct ids, best first. May be empty.
            gains: Gold id to integer gain (2 influential, 1 other). Ids with a gain below 1 and
                ids not in it are not relevant.
            k: How many of the first ids count, at least 1; None for all.
        """


METRICS: Registry[Metric] = Registry(
    "metric", packages=["arena.metrics"], entry_points="researcharena.metrics"
)


def checked(
    ranking: Sequence[str], gains: Mapping[str, int], k: int | None
) -> tuple[Sequence[str], dict[str, int]]:
    """Return the first `k` ids of `ranking`, and the entries of `gains` that are relevant.

    Relevant is a gain of at least 1, as in trec_eval and ranx.

    Raises:
        DataError: `ranking` holds an id twice (a repeated hit would count twice) or something
            that is no string; `gains` is no mapping, holds a gain that is no integer, or holds no
            relevant id (no metric is defined then: the caller decides whether to leave the query
            out); `k` is no positive integer.
    """
    if k is not None and (not isinstance(k, Integral) or isinstance(k, bool) or k < 1):
        raise DataError(f"cutoff {clip(k)}: expected an integer of at least 1, or None.")
    if isinstance(ranking, str):
        raise DataError(f"ranking {clip(ranking)}: expected a sequence of ids, not one string.")
    for document in ranking:
        if not isinstance(document, str):
            raise DataError(f"ranking holds {clip(document)}: expected ids that are strings.")
    if len(set(ranking)) != len(ranking):
        document, times = Counter(ranking).most_common(1)[0]
        raise DataError(f"ranking holds {clip(document)} {times} times: expected distinct ids.")
    if not isinstance(gains, Mapping):
        raise DataError(f"gains {clip(gains)}: expected a mapping of ids to integers.")
    for document, gain in gains.items():
        if not isinstance(gain, Integral):
            raise DataError(f"gain {clip(gain)} of {clip(document)}: expected an integer.")
    relevant = {document: gain for document, gain in gains.items() if gain >= 1}
    if not relevant:
        raise DataError(
            "no gold: a query needs an id of gain 1 or more to be scored; leave this one out."
        )
    return ranking[:k], relevant


def parse(name: str) -> tuple[Metric, int | None]:
    """Return the metric function and the cutoff that `name` stands for.

    Args:
        name: ``metric`` (the whole ranking, as ranx has it) or ``metric@k``, k from 1 to
            999999999 without leading zeros.

    Raises:
        UnknownNameError: There is no such metric.
        DataError: The cutoff is malformed.

    >>> metric, k = parse("recall@10")
    >>> metric.__name__, k
    ('recall', 10)
    >>> parse("ndgc@10")
    Traceback (most recent call last):
    arena.errors.UnknownNameError: no metric named 'ndgc'. Did you mean 'ndcg'?
    """
    base, at, cutoff = name.partition("@") if isinstance(name, str) else (name, "", "")
    metric = METRICS.get(base)
    if at and not _CUTOFF.fullmatch(cutoff):
        raise DataError(
            f"metric {clip(name)}: the cutoff after '@' must be an integer from 1 to 999999999, "
            f"as in '{base}@10'."
        )
    return metric, int(cutoff) if at else None


def resolve(name: str) -> str:
    """Return the plain name of a metric that is named ``FILE.py:NAME`` or ``FILE.py:NAME@k``.

    Raises:
        DataError: As `Registry.resolve`, or the metric takes no cutoff.
    """
    if not isinstance(name, str):
        return name  # refused as an unknown name
    base, at, cutoff = name.partition("@")
    plain = METRICS.resolve(base)
    if plain != base and "k" not in parameters_of(METRICS.get(plain)):
        raise DataError(f"metric {name!r} takes no cutoff. Write `def {plain}(ranking, gains, k)`.")
    return plain + at + cutoff


def get(name: str) -> Callable[[Sequence[str], Mapping[str, int]], float]:
    """Return the function ``(ranking, gains) -> float`` of a metric name such as ``ndcg@30``.

    Raises:
        UnknownNameError, DataError: As `parse`. The function raises as `evaluate`.

    >>> get("precision@4")(["a", "x", "b"], {"a": 2, "b": 1})
    0.5
    """
    metric, k = parse(name)
    return functools.partial(metric, k=k)  # not a closure: this can be sent to a worker process


def evaluate(
    ranking: Sequence[str], gains: Mapping[str, int], names: Iterable[str]
) -> dict[str, float]:
    """Score one query's ranking.

    Args:
        ranking: Distinct ids, best first. May be empty.
        gains: Gold id to integer gain (2 influential, 1 other), at least one of them positive.
        names: Metric names, see `parse`.

    Returns:
        Score by metric name, in the order of `names`.

    Raises:
        UnknownNameError: There is no such metric.
        DataError: An id appears twice in `ranking`, there is no gold, or a cutoff is malformed.
    """
    if isinstance(names, str):
        raise DataError(f"metric names {clip(names)}: expected a list of names, not one string.")
    return {name: get(name)(ranking, gains) for name in names}


def mean(per_query: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return each metric's arithmetic mean over queries.

    Sums are exactly rounded, so that the order of queries does not change the last digit.

    Args:
        per_query: Query id to score by metric name, the same metrics for every query.

    Returns:
        Mean by metric name, in the first query's order.

    Raises:
        DataError: There is no query, a query lacks a metric, or a score is not finite.

    >>> mean({"q1": {"mrr": 1.0}, "q2": {"mrr": 0.5}})
    {'mrr': 0.75}
    """
    if not per_query:
        raise DataError("no query to average over.")
    names = list(next(iter(per_query.values())))
    for query, scores in per_query.items():
        if odd := scores.keys() ^ set(names):
            raise DataError(
                f"query {clip(query)} differs from the others in metric {clip(min(odd))}: "
                "expected the same metrics for every query."
            )
        for name, score in scores.items():
            if not math.isfinite(score):
                raise DataError(f"query {clip(query)}: {name} is {score}, expected a finite score.")
    return {
        name: math.fsum(scores[name] for scores in per_query.values()) / len(per_query)
        for name in names
    }
