"""Runs side by side by one metric."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from arena.results.comparison import _statistics as statistics
from arena.results.comparison.model import Difference, Estimate, MetricComparison


def compare_by(
    metric: str,
    scores: Mapping[str, Mapping[str, Any]],
    pairs: Sequence[tuple[str, str]],
    test: str,
    correction: str,
    level: float,
) -> tuple[MetricComparison, list[str]]:
    """Return all runs by `metric`, and what must be told of it.

    Args:
        metric: that all runs have.
        scores: run -> the content of its ``metrics.json``.
        pairs: of runs, the one and the one that it is compared with.
        test: ``"fisher"`` or ``"student"``.
        correction: as `_statistics.correct` takes it.
        level: of the intervals.
    """
    entries = [run["per_survey"] for run in scores.values()]
    surveys = [s for s in sorted(entries[0]) if all(e[s][metric] is not None for e in entries)]
    values = np.array([[e[s][metric] for e in entries] for s in surveys], np.float64)
    values = values.reshape(len(surveys), len(entries))
    lower = lower_is_better(metric)
    places = {name: number for number, name in enumerate(scores)}
    means, differences = {}, []
    if surveys:
        intervals = statistics.bootstrap(values, level)
        for name, place in places.items():
            means[name] = Estimate(_mean(values[:, place]), *intervals[place])
        if pairs:
            columns = [values[:, places[a]] - values[:, places[b]] for a, b in pairs]
            differences = _test(pairs, np.stack(columns, 1), lower, test, correction, level)
    ceilings = [run["ceiling"][metric] for run in scores.values()]
    remarks = _remarks(metric, len(surveys), scores)
    if any(ceiling != ceilings[0] for ceiling in ceilings):
        remarks.append(f"The runs were given different ceilings of {metric}; none is shown.")
        ceilings = [None]
    by_run = {name: tuple(values[:, place].tolist()) for name, place in places.items()}
    table = MetricComparison(
        metric, lower, tuple(surveys), ceilings[0], by_run, means, tuple(differences)
    )
    return table, remarks


def _test(
    pairs: Sequence[tuple[str, str]],
    differences: statistics.Floats,
    lower: bool,
    test: str,
    correction: str,
    level: float,
) -> list[Difference]:
    tested = statistics.fisher if test == "fisher" else statistics.student
    found = tested(differences)
    corrected = statistics.correct(found, correction)
    intervals = statistics.bootstrap(differences, level)
    better = -differences if lower else differences
    most = round(1 - level, 12)
    return [
        Difference(
            run, against, _mean(differences[:, i]), *intervals[i], found[i], corrected[i],
            (now := corrected[i]) is not None and now <= most,
            int((better[:, i] > statistics.TIE).sum()),
            int((np.abs(better[:, i]) <= statistics.TIE).sum()),
            int((better[:, i] < -statistics.TIE).sum()),
        )
        for i, (run, against) in enumerate(pairs)
    ]  # fmt: skip


def _mean(values: statistics.Floats) -> float:
    return math.fsum(values.tolist()) / len(values)


def _remarks(metric: str, number: int, scores: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Return what must be told of the surveys that a metric is taken over."""
    own = {
        name: sum(entry[metric] is not None for entry in run["per_survey"].values())
        for name, run in scores.items()
    }
    labelled = max(run["counts"]["scored"] for run in scores.values())
    if number == labelled:
        return []
    told = f"{metric} is taken over {number} of {labelled} scored surveys"
    if len(set(own.values())) > 1:
        return [f"{told}: those that every run has a value for."]
    return [f"{told}; the labels of the others have nothing that it counts."]


def lower_is_better(metric: str) -> bool:
    """Return whether a metric is a distance.

    >>> lower_is_better("tree_edit_distance"), lower_is_better("ndcg@10")
    (True, False)
    """
    return metric.partition("@")[0].endswith("distance")
