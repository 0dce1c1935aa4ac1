"""Compare runs; docs/comparing.md."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arena._internal.progress import progress
from arena.errors import DataError, UnknownNameError, clip, did_you_mean
from arena.results.comparison import statistics
from arena.results.comparison.episodes import effort_of, why_no_curve
from arena.results.comparison.model import (
    ComparedRun,
    Comparison,
    Estimate,
    MetricComparison,
    PairedDifference,
)
from arena.results.comparison.opening import (
    name_runs,
    notes_on,
    open_run,
    refuse_different,
    split_name,
)

TESTS = ("fisher", "student")
CORRECTIONS = ("holm", "bonferroni", "none")
_Metrics = Mapping[str, Any]


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
        CorpusError: if a directory holds no run, or one that is unfinished or was changed.
        DataError: if runs differ in corpus, task set, task, surveys, metrics or encoder, one is
            given twice, or an option is out of its range.
        UnknownNameError: if baseline or a metric is unknown.
    """
    _check_options(runs, metrics, test, correction, level)
    given, directories = zip(*map(split_name, runs), strict=True)
    opened = [open_run(directory) for directory in directories]
    names = name_runs(given, [run.directory for run in opened], [run.manifest for run in opened])
    played = {n: (run.manifest, run.metrics) for n, run in zip(names, opened, strict=True)}
    refuse_different(played)
    chosen = _chosen(*played[names[0]], metrics)
    against = None if all_pairs else _baseline(baseline, names, [r.directory for r in opened])
    if all_pairs and baseline is not None:
        raise DataError("all pairs are compared with each other: name no baseline.")

    compared: list[ComparedRun] = []
    gold: dict[str, dict[str, int]] = {}
    total = sum(len(run.manifest["surveys"]) for run in opened)
    with progress(total=total, desc="reading runs", unit="episode") as bar:
        for name, run in zip(names, opened, strict=True):
            episodes, gold = run.read(bar.update)
            compared.append(ComparedRun(name, run.manifest, run.metrics, episodes))
    pairs = (
        list(itertools.combinations(reversed(names), 2))[::-1]
        if against is None
        else [(name, against) for name in names if name != against]
    )
    scores = {name: run_metrics for name, (_, run_metrics) in played.items()}
    notes = list(notes_on(played))
    tables = []
    for metric in chosen:
        table, remarks = compare_by(metric, scores, pairs, test, correction, level)
        tables.append(table)
        notes += remarks
    manifest = compared[0].manifest
    scored = {survey for survey, gains in gold.items() if gains}
    without = {
        run.name: why
        for run in compared
        if (why := why_no_curve(run.manifest) or _searches_nothing(run))
    }
    return Comparison(
        manifest["task"],
        tuple(compared),
        against,
        test,
        correction,
        level,
        tuple(tables),
        _headline(manifest, chosen),
        tuple(sorted(manifest["surveys"])),
        gold,
        {run.name: _curve(run, scored) for run in compared if run.name not in without and scored},
        without,
        {run.name: effort_of(run.episodes) for run in compared},
        tuple(notes),
    )


def _check_options(
    runs: Sequence[str | Path], metrics: Any, test: str, correction: str, level: float
) -> None:
    if isinstance(runs, str | Path) or not runs:
        raise DataError(f"runs={clip(runs)}: give a list of directories.")
    if metrics is not None and (not metrics or isinstance(metrics, str)):
        raise DataError(f"metrics={clip(metrics)}: give a list of names such as 'recall@10'.")
    for what, value, known in (("test", test, TESTS), ("correction", correction, CORRECTIONS)):
        if value not in known:
            raise UnknownNameError(f"no {what} named {clip(value)}.{did_you_mean(value, known)}")
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise DataError(f"level={clip(level)}: give a number between 0 and 1, such as 0.95.")


def _chosen(
    manifest: Mapping[str, Any], scores: _Metrics, metrics: Sequence[str] | None
) -> list[str]:
    order = list(manifest.get("definition", {}).get("metrics", ()))
    known = sorted(scores["mean"], key=lambda name: order.index(name) if name in order else 99)
    for name in metrics or ():
        if name not in known:
            raise UnknownNameError(
                f"the runs have no metric {clip(name)}.{did_you_mean(name, known)} "
                "`arena rescore` scores a run by others."
            )
    return list(dict.fromkeys(metrics)) if metrics else known


def _baseline(baseline: str | None, names: Sequence[str], directories: Sequence[Path]) -> str:
    if baseline is None or baseline in names:
        return baseline or names[0]
    place = Path(baseline).resolve()
    for name, directory in zip(names, directories, strict=True):
        if directory.resolve() == place:
            return name
    raise UnknownNameError(
        f"no run named {clip(baseline)} is compared.{did_you_mean(baseline, names)}"
    )


def _headline(manifest: Mapping[str, Any], chosen: Sequence[str]) -> str:
    headline = manifest.get("definition", {}).get("headline")
    return headline if headline in chosen else chosen[0]


def _searches_nothing(run: ComparedRun) -> str | None:
    has_searched = any(len(episode.curve or ()) > 1 for episode in run.episodes.values())
    return None if has_searched else "it searches nothing"


def _curve(run: ComparedRun, scored: set[str]) -> tuple[float, ...]:
    """Return the mean over surveys; an episode that has ended keeps its last share."""
    curves = [run.episodes[s].curve or (0.0,) for s in sorted(scored)]
    longest = max(map(len, curves))
    filled = [[*curve, *[curve[-1]] * (longest - len(curve))] for curve in curves]
    return tuple(np.array(filled).mean(axis=0).tolist())


def compare_by(
    metric: str,
    scores: Mapping[str, Mapping[str, Any]],
    pairs: Sequence[tuple[str, str]],
    test: str,
    correction: str,
    level: float,
) -> tuple[MetricComparison, list[str]]:
    """Compare all runs by one metric; return the comparison and remarks on it.

    Args:
        metric: A metric that all runs have.
        scores: Run -> the content of its ``metrics.json``.
        pairs: Pairs of runs: the one, and the one that it is compared with.
        test: ``"fisher"`` or ``"student"``.
        correction: The correction, as `statistics.correct` takes it.
        level: Level of the intervals.
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
) -> list[PairedDifference]:
    compute = statistics.fisher if test == "fisher" else statistics.student
    probabilities = compute(differences)
    corrected = statistics.correct(probabilities, correction)
    intervals = statistics.bootstrap(differences, level)
    better = -differences if lower else differences
    most = round(1 - level, 12)
    return [
        PairedDifference(
            run, against, _mean(differences[:, i]), *intervals[i], probabilities[i], corrected[i],
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
    """Return a remark if the metric is not taken over all scored surveys."""
    own = {
        name: sum(entry[metric] is not None for entry in run["per_survey"].values())
        for name, run in scores.items()
    }
    labelled = max(run["counts"]["scored"] for run in scores.values())
    if number == labelled:
        return []
    remark = f"{metric} is taken over {number} of {labelled} scored surveys"
    if len(set(own.values())) > 1:
        return [f"{remark}: those that every run has a value for."]
    return [f"{remark}; the labels of the others have nothing that it counts."]


def lower_is_better(metric: str) -> bool:
    """Return whether a metric is a distance.

    >>> lower_is_better("tree_edit_distance"), lower_is_better("ndcg@10")
    (True, False)
    """
    return metric.partition("@")[0].endswith("distance")
