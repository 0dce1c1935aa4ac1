"""Compare runs; docs/comparing.md."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arena._internal.tables import progress
from arena.errors import DataError, UnknownNameError, clip, did_you_mean
from arena.results.comparison import statistics
from arena.results.comparison.model import (
    ComparedRun,
    Comparison,
    Estimate,
    MetricComparison,
    PairedDifference,
)
from arena.results.comparison.opening import notes_on, open_runs, read_gold, read_run
from arena.tasks import lower_is_better

TESTS = ("fisher", "student")
CORRECTIONS = ("holm", "bonferroni", "none")


def compare(
    runs: Sequence[str | Path],
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    test: str = "fisher",
    correction: str = "holm",
    level: float = 0.95,
    all_pairs: bool = False,
) -> Comparison:
    """Compare finished runs, survey by survey.

    Args:
        runs: Directories that `arena.run` wrote, each alone or as ``NAME=DIR``. By default a run
            is named after its agent and retriever, or, if several have the same, after its
            directory.
        baseline: The run, by name or directory, that the others are compared with; by default
            the first.
        metrics: Some of the runs' metrics; by default all.
        test: ``"fisher"`` (randomization of signs) or ``"student"`` (paired t).
        correction: Correction of p for the number of comparisons by one metric: ``"holm"``,
            ``"bonferroni"`` or ``"none"``.
        level: Level of the confidence intervals, in (0, 1); a corrected p of at most 1 - level
            is significant.
        all_pairs: Compare every run with every other instead of with a baseline.

    Returns:
        The comparison; `arena.results.comparison` turns it into tables, JSON and a page. A metric
        is taken over the surveys that every run has a value for.

    Raises:
        CorpusError: A directory holds no run, or one that is unfinished or was changed.
        DataError: Runs differ in corpus, task set, task, surveys, metrics or encoder, one is
            given twice, or an option is out of its range.
        UnknownNameError: The baseline or a metric is unknown.
    """
    if isinstance(runs, str | Path) or not runs:
        raise DataError(f"runs={clip(runs)}: give a list of directories.")
    if metrics is not None and (not metrics or isinstance(metrics, str)):
        raise DataError(f"metrics={clip(metrics)}: give a list of names such as 'recall@10'.")
    for what, value, known in (("test", test, TESTS), ("correction", correction, CORRECTIONS)):
        if value not in known:
            raise UnknownNameError(f"no {what} named {clip(value)}.{did_you_mean(value, known)}")
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise DataError(f"level={clip(level)}: give a number between 0 and 1, such as 0.95.")
    if all_pairs and baseline is not None:
        raise DataError("all pairs are compared with each other: name no baseline.")

    opened = open_runs(runs)
    names = list(opened)
    places = {name: run.directory.resolve() for name, (run, _) in opened.items()}
    first, scores = opened[names[0]]
    definition = first.manifest["definition"]
    chosen = _chosen(definition, scores, metrics)
    against = None if all_pairs else _baseline(baseline, places)
    pairs = (
        list(itertools.combinations(reversed(names), 2))[::-1]
        if against is None
        else [(name, against) for name in names if name != against]
    )

    total = sum(len(run.manifest["surveys"]) for run, _ in opened.values())
    with progress(total=total, desc="reading runs", unit="episode") as bar:
        compared = [read_run(name, *parts, bar.update) for name, parts in opened.items()]
    notes = list(notes_on({run.name: run.manifest for run in compared}))
    tables = [_compare_by(each, compared, pairs, test, correction, level) for each in chosen]
    for table in tables:
        notes += _remarks_on(table, compared)
    headline = definition.get("headline")
    return Comparison(
        first.task,
        tuple(compared),
        against,
        test,
        correction,
        level,
        tuple(tables),
        headline if headline in chosen else chosen[0],
        tuple(sorted(first.manifest["surveys"])),
        read_gold(first),
        tuple(notes),
    )


def _chosen(
    definition: Mapping[str, Any], scores: Mapping[str, Any], metrics: Sequence[str] | None
) -> list[str]:
    order = list(definition.get("metrics", ()))
    known = sorted(scores["mean"], key=lambda name: order.index(name) if name in order else 99)
    for name in metrics or ():
        if name not in known:
            raise UnknownNameError(
                f"the runs have no metric {clip(name)}.{did_you_mean(name, known)} "
                "`arena rescore` scores a run by others."
            )
    return list(dict.fromkeys(metrics)) if metrics else known


def _baseline(baseline: str | None, places: Mapping[str, Path]) -> str:
    if baseline is None or baseline in places:
        return baseline or next(iter(places))
    for name, place in places.items():
        if place == Path(baseline).resolve():
            return name
    raise UnknownNameError(
        f"no run named {clip(baseline)} is compared.{did_you_mean(baseline, places)}"
    )


def _compare_by(
    metric: str,
    runs: Sequence[ComparedRun],
    pairs: Sequence[tuple[str, str]],
    test: str,
    correction: str,
    level: float,
) -> MetricComparison:
    """Compare all runs by one metric."""
    entries = [run.metrics["per_survey"] for run in runs]
    surveys = [s for s in sorted(entries[0]) if all(e[s][metric] is not None for e in entries)]
    values = np.array([[e[s][metric] for e in entries] for s in surveys], np.float64)
    values = values.reshape(len(surveys), len(entries))
    columns = {run.name: values[:, place] for place, run in enumerate(runs)}
    lower = lower_is_better(metric)
    means, differences = {}, []
    if surveys:
        intervals = statistics.bootstrap(values, level)
        for (name, column), interval in zip(columns.items(), intervals, strict=True):
            means[name] = Estimate(_mean(column), *interval)
    if surveys and pairs:
        paired = np.stack([columns[run] - columns[against] for run, against in pairs], 1)
        compute = statistics.fisher if test == "fisher" else statistics.student
        probabilities = compute(paired)
        corrected = statistics.correct(probabilities, correction)
        better = -paired if lower else paired
        for i, ((run, against), interval) in enumerate(
            zip(pairs, statistics.bootstrap(paired, level), strict=True)
        ):
            now = corrected[i]
            differences.append(
                PairedDifference(
                    run, against, _mean(paired[:, i]), *interval, probabilities[i], now,
                    now is not None and now <= round(1 - level, 12),
                    int((better[:, i] > statistics.TIE).sum()),
                    int((np.abs(better[:, i]) <= statistics.TIE).sum()),
                    int((better[:, i] < -statistics.TIE).sum()),
                )
            )  # fmt: skip
    ceilings = [run.metrics["ceiling"][metric] for run in runs]
    ceiling = ceilings[0] if ceilings.count(ceilings[0]) == len(ceilings) else None
    by_run = {name: tuple(column.tolist()) for name, column in columns.items()}
    return MetricComparison(
        metric, lower, tuple(surveys), ceiling, by_run, means, tuple(differences)
    )


def _remarks_on(table: MetricComparison, runs: Sequence[ComparedRun]) -> Iterator[str]:
    """Yield what a reader of the numbers must know."""
    metric, ceiling = table.metric, table.ceiling
    labelled = max(run.metrics["counts"]["scored"] for run in runs)
    if len(table.surveys) != labelled:
        remark = f"{metric} is taken over {len(table.surveys)} of {labelled} scored surveys"
        entries = [run.metrics["per_survey"].values() for run in runs]
        if len({sum(entry[metric] is not None for entry in each) for each in entries}) > 1:
            yield f"{remark}: those that every run has a value for."
        else:
            yield f"{remark}; the labels of the others have nothing that it counts."
    if ceiling != runs[0].metrics["ceiling"][metric]:
        yield f"The runs were given different ceilings of {metric}; none is shown."
    means = table.means.items()
    above = [name for name, mean in means if ceiling is not None and mean.mean > ceiling + 1e-9]
    if above and not table.lower_is_better:
        yield (
            f"{'; '.join(above)}: {metric} is above the ceiling, which is the score of the labels "
            "themselves. This metric has no upper limit: an answer with more, and more different, "
            "headings can score higher (docs/mind-map-metrics.md)."
        )


def _mean(values: statistics.Floats) -> float:
    return math.fsum(values.tolist()) / len(values)
