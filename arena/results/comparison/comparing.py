"""Compare runs topic by topic: means, intervals, paired tests; docs/comparing.md."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from arena.corpus import Corpus
from arena.dates import parse_cutoff
from arena.errors import CorpusError, DataError, UnknownNameError, clip, did_you_mean
from arena.kit.lazy import load
from arena.kit.terminal import progress
from arena.plugins import load as load_plugins
from arena.results.comparison.clusters import CLUSTERS, FEWEST, clusters_of, in_clusters, numbered
from arena.results.comparison.opening import (
    ComparedRun,
    Effort,
    notes_on,
    open_runs,
    pool,
    read_compared_run,
    split_name,
)
from arena.results.comparison.paired import (
    TIE,
    bootstrap,
    correct,
    detectable,
    errors,
    fisher,
    student,
)
from arena.results.comparison.rivals import is_rival, read_rival
from arena.runs.directory import OpenedRun
from arena.tasks import TaskSet
from arena.text.display import count

TESTS = ("fisher", "student")
_OF_ONE = "Labels are checked of the runs over the given corpus alone."


@dataclass(frozen=True)
class Estimate:
    """A mean with its confidence interval; the ends are None for fewer than two topics."""

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class PairedDifference:
    """One run against another by one metric, paired by topic.

    Attributes:
        run: Name of the run.
        against: Name of the run that it is compared with.
        difference: Mean of ``run - against``.
        low: Lower end of its confidence interval, None for fewer than two topics.
        high: Upper end.
        p: Two-sided p of the test, None if it is not defined.
        corrected: `p` after Holm's correction for all comparisons by this metric.
        significant: Whether `corrected` is at most 1 - level; False without a best direction.
        wins: Topics on which `run` is better; None without a best direction.
        ties: Topics on which both are equal to 1e-12, likewise.
        losses: The other topics, likewise.
        detectable: Smallest true difference that the test finds with a power of `POWER`, at the
            first level of Holm's correction; None where no difference could be significant.
    """

    run: str
    against: str
    difference: float
    low: float | None
    high: float | None
    p: float | None
    corrected: float | None
    significant: bool
    wins: int | None
    ties: int | None
    losses: int | None
    detectable: float | None


@dataclass(frozen=True)
class MetricComparison:
    """All runs by one metric.

    Attributes:
        metric: Name of the metric.
        lower_is_better: Whether less is better; None for a count without a best direction.
        topics: The topics that every run has a value for; everything here is over them.
        clusters: How many clusters they are in, see `clusters_of`; below `FEWEST` nothing is
            tested.
        ceiling: Mean score of the labels themselves, None if unknown.
        values: Run -> its values in the order of `topics`.
        means: Run -> mean with interval.
        differences: Differences of the compared pairs.
    """

    metric: str
    lower_is_better: bool | None
    topics: tuple[str, ...]
    clusters: int
    ceiling: float | None
    values: Mapping[str, tuple[float, ...]]
    means: Mapping[str, Estimate]
    differences: tuple[PairedDifference, ...]


@dataclass(frozen=True)
class Comparison:
    """Runs side by side; `arena.compare` makes it, `arena.results.comparison` has its outputs.

    Attributes:
        task: The task that all runs played.
        runs: The runs, in the given order.
        baseline: The name that the others are compared with.
        test, level: As `compare` takes them.
        metrics: One comparison per metric, in the order of the task.
        headline: The metric of the verdict, which the page draws topic by topic.
        topics: The topics that all runs played, in order.
        gold: Topic -> paper -> 2 (influential) or 1, of the references in reach; empty where a
            task has no ranking.
        notes: Remarks for a reader, such as differences between runs that may be compared all the
            same.
        parts: Words such as "dated before 2024-01-01" -> the headline over those topics alone; see
            `split_by_day`.
        clusters: What a cluster shares, as `compare` takes it.
    """

    task: str
    runs: tuple[ComparedRun, ...]
    baseline: str
    test: str
    level: float
    metrics: tuple[MetricComparison, ...]
    headline: str
    topics: tuple[str, ...]
    gold: Mapping[str, Mapping[str, int]]
    notes: tuple[str, ...]
    parts: Mapping[str, MetricComparison] = field(default_factory=dict)
    clusters: str = CLUSTERS[0]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(run.name for run in self.runs)

    @cached_property
    def curves(self) -> dict[str, tuple[float, ...]]:
        """Run -> mean share of references shown after 0, 1, 2, ... searches."""
        scored = sorted(topic for topic, gains in self.gold.items() if gains)
        counting = [run for run in self.runs if scored and run.why_no_curve is None]
        return {run.name: run.curve(scored) for run in counting}

    @property
    def without_curve(self) -> dict[str, str]:
        """Run -> why it has no curve."""
        return {run.name: run.why_no_curve for run in self.runs if run.why_no_curve is not None}

    @property
    def efforts(self) -> dict[str, Effort]:
        """Run -> what it cost."""
        return {run.name: run.effort for run in self.runs}

    @property
    def unit(self) -> str:
        """Kind of topic of these runs: topic, paper or question."""
        return str(self.runs[0].metrics.get("unit", "topic"))

    @property
    def clustered(self) -> int:
        """In how many clusters the topics are."""
        rows = self.runs[0].metrics["per_topic"]
        return len({*clusters_of({s: rows[s] for s in self.topics}, self.clusters).values()})

    @property
    def over(self) -> str:
        """How many topics there are, and in how many clusters."""
        return in_clusters(len(self.topics), self.clustered, self.unit)

    @property
    def played(self) -> bool:
        """Whether the runs have episodes; a system that a suite scored has none."""
        return any(run.episodes for run in self.runs)

    @property
    def guessed(self) -> list[str]:
        """The topics whose date is guessed."""
        return list(self.runs[0].metrics.get("dates_guessed", ()))


def compare(
    runs: Sequence[str | Path],
    baseline: str | None = None,
    metrics: Sequence[str] | None = None,
    test: str = "fisher",
    level: float = 0.95,
    common: bool = False,
    clusters: str = CLUSTERS[0],
    corpus: Corpus | str | Path | None = None,
    plugins: Sequence[str | Path] = (),
) -> Comparison:
    """Compare finished runs, topic by topic.

    Args:
        runs: Directories that `arena.run` wrote, each alone or as ``NAME=DIR``. By default a run
            is named after its agent and retriever, or, if several have the same, after its
            directory. Several runs of one system, of other seeds or corpora, are ``NAME=DIR,DIR``;
            answers of another system, a file or a folder, are ``NAME=FILE``.
        baseline: The run, by name or directory, that the others are compared with; by default
            the first.
        metrics: Some of the runs' metrics; by default all.
        test: ``"fisher"`` (randomization of signs) or ``"student"`` (paired t).
        level: Level of the confidence intervals, in (0, 1); a p of at most 1 - level, by Holm's
            correction for the number of comparisons by one metric, is significant.
        common: Compare the topics that all runs played, where they did not play the same.
        clusters: What topics share that are resampled and flipped together: ``"cluster"``, the
            subject of synthetic surveys and the paper that asks a question, or ``"domain"``.
        corpus: The corpus of the runs, by whose labels their headlines are scored again; also to
            score files of answers, and runs by `metrics` that they did not report, and for ceilings
            of `common` topics. Without it rankings are scored again by the labels in the runs.
        plugins: Files of plug-ins to load first, see `arena.plugins`.

    Returns:
        The comparison; `arena.results.comparison` turns it into tables, JSON and a page. A metric
        is taken over the topics that every run has a value for.

    Raises:
        CorpusError: A directory contains no run, or one that is unfinished or was changed, or that
            states scores which its answers do not get.
        DataError: Runs differ in corpus, task set, task, topics, metrics or encoder, one is
            given twice, or an option is out of its range.
        UnknownNameError: The baseline or a metric is unknown.
    """
    load_plugins(plugins)
    if isinstance(runs, str | Path) or not runs:
        raise DataError(f"runs={clip(runs)}: give a list of directories.")
    _check_options(test, level)
    opened = None if corpus is None else Corpus.resolve(corpus)
    compared = _read(runs, common, opened, metrics or ())
    first = next(run for run in compared if run.opened)
    names = [run.name for run in compared]
    definition = first.manifest["definition"]
    shared = [n for n in first.metrics["mean"] if all(n in r.metrics["mean"] for r in compared)]
    chosen = _chosen(definition, shared, metrics)
    places = {run.name: run.place.resolve() for run in compared}
    against = choose_baseline(baseline, places)
    pairs = [(name, against) for name in names if name != against]
    ours = {r.name: r.manifest for r in compared if r.opened is not None and r.opened.files}
    notes = [*notes_on(ours)]
    notes += [remark for run in compared for remark in run.remarks]
    if corpus is None or any(run.corpora > 1 for run in compared):
        notes.append("labels not checked: give --corpus." if corpus is None else _OF_ONE)
    assert first.opened is not None and first.task is not None
    unlimited = _unlimited(first.opened)
    how = (test, level, clusters)
    direction = first.opened.direction
    tables = [compare_by(each, direction(each), compared, pairs, *how) for each in chosen]
    for table in tables:
        notes += _remarks_on(table, compared, unlimited)
    headline = definition.get("headline")
    made = Comparison(
        first.task.name,
        tuple(compared),
        against,
        test,
        level,
        tuple(tables),
        headline if headline in chosen else chosen[0],
        tuple(sorted(first.metrics["per_topic"])),
        first.gold,
        tuple(notes),
        clusters=clusters,
    )
    if opened is not None:
        tasks_of(made, opened)  # refuses another one
    return made


def _read(
    runs: Sequence[str | Path], common: bool, corpus: Corpus | None, metrics: Sequence[str]
) -> list[ComparedRun]:
    """Return the systems in the given order: runs, alone or pooled, and files of answers."""
    given = [split_name(run) for run in runs]
    played = [run for run, (_, place) in zip(runs, given, strict=True) if not is_rival(place)]
    if not played:
        raise DataError("files of answers are scored on the task of a run: name a run, too.")
    opened = open_runs(played, common, corpus, metrics)
    every = [run for system in opened.values() for run, _ in system]
    total = sum(len(run.manifest["topics"]) * run.repeats for run in every)
    with progress(total=total, desc="reading runs", unit="episode") as bar:
        pooled = [
            pool([read_compared_run(name, *one, bar.update) for one in system])
            for name, system in opened.items()
        ]
    waiting, found = iter(pooled), list[ComparedRun]()
    for name, place in given:
        if not is_rival(place):
            found.append(next(waiting))
        elif corpus is None:
            raise DataError(f"{str(place)!r} is no run: name the --corpus, to score its answers.")
        else:
            found.append(read_rival(name or Path(place).stem, place, pooled[0], corpus))
    if len({run.name for run in found}) < len(found):
        raise DataError("several systems have one name. Name them: NAME=FILE.")
    return found


def tasks_of(comparison: Comparison, corpus: Corpus) -> TaskSet:
    """Return the tasks that the runs played; raise CorpusError if they are not of `corpus`."""
    if comparison.runs[0].corpora > 1:
        raise DataError("these runs are of several corpora: leave --corpus out.")
    opened = (run.opened for run in comparison.runs if run.opened)
    since = next((run.manifest["environment"].get("since") for run in opened), None)
    tasks = TaskSet(corpus, since=since)
    then = comparison.runs[0].manifest["sha256"]
    if (then.get("corpus"), then.get("tasks")) != (corpus.sha256, tasks.sha256):
        raise CorpusError(
            f"{str(corpus.directory)!r} is not the corpus of these runs. Name the --corpus that "
            "they were run with."
        )
    return tasks


def split_by_day(comparison: Comparison, corpus: Corpus, day: str | None = None) -> Comparison:
    """Return a comparison with the headline apart for topics dated before a day, and from it on.

    Args:
        comparison: The comparison.
        corpus: The corpus of the runs, which has the dates of the topics.
        day: First day of which a model knows nothing: its cutoff, as `Corpus.at` takes one. By
            default the latest ``model_cutoff`` of the agents; where none has one, nothing is split.
    """
    given = [run.manifest["agent_options"].get("model_cutoff") for run in comparison.runs]
    days = [str(parse_cutoff(each)) for each in (given if day is None else [day]) if each]
    if not days:
        return comparison
    tasks, day = tasks_of(comparison, corpus), max(days)
    whole = next(each for each in comparison.metrics if each.metric == comparison.headline)
    pairs = [(each.run, each.against) for each in whole.differences]
    how = (comparison.test, comparison.level, comparison.clusters)
    parts: dict[str, MetricComparison] = {}
    for words, early in ((f"dated before {day}", True), (f"dated {day} or later", False)):
        chosen = [s for s in whole.topics if (tasks.topic(s).date < day) == early]
        runs = [
            replace(run, metrics={"per_topic": {s: run.metrics["per_topic"][s] for s in chosen},
                                  "ceiling": {}})
            for run in comparison.runs
        ]  # fmt: skip
        parts[words] = compare_by(whole.metric, whole.lower_is_better, runs, pairs, *how)
    return replace(comparison, parts=parts)


def _check_options(test: str, level: float) -> None:
    if test == "student":  # whether enough clusters are there for it or not
        load("scipy.stats", "the t-test")
    if test not in TESTS:
        raise UnknownNameError(f"no test named {clip(test)}.{did_you_mean(test, TESTS)}")
    if not 0 < level < 1:
        raise DataError(f"level={clip(level)}: give a number between 0 and 1, such as 0.95.")


def _chosen(
    definition: Mapping[str, Any], scores: Sequence[str], metrics: Sequence[str] | None
) -> list[str]:
    order = list(definition.get("metrics", ()))
    known = sorted(scores, key=lambda name: order.index(name) if name in order else 99)
    for name in metrics or ():
        if name not in known:
            raise UnknownNameError(
                f"the runs have no metric {clip(name)}.{did_you_mean(name, known)} "
                "With the --corpus they are scored by others, too."
            )
    return list(dict.fromkeys(metrics)) if metrics else known


def choose_baseline(baseline: str | None, places: Mapping[str, Path]) -> str:
    """Return the name of the run that `baseline`, a name or its directory, means; else the first.

    Raises:
        UnknownNameError: It is neither a name nor a place of `places`.
    """
    if baseline is None or baseline in places:
        return baseline or next(iter(places))
    for name, place in places.items():
        if place == Path(baseline).resolve():
            return name
    raise UnknownNameError(
        f"no run named {clip(baseline)} is compared.{did_you_mean(baseline, places)}"
    )


def compare_by(
    metric: str,
    lower: bool | None,
    runs: Sequence[ComparedRun],
    pairs: Sequence[tuple[str, str]],
    test: str,
    level: float,
    clusters: str = CLUSTERS[0],
) -> MetricComparison:
    """Compare all runs by one metric, of which less is better if `lower`; see `compare`."""
    entries = [run.metrics["per_topic"] for run in runs]
    topics = [
        s for s in sorted(entries[0]) if all(e.get(s, {}).get(metric) is not None for e in entries)
    ]
    values = np.array([[e[s][metric] for e in entries] for s in topics], np.float64)
    values = values.reshape(len(topics), len(entries))
    columns = {run.name: values[:, place] for place, run in enumerate(runs)}
    inside = clusters_of(entries[0], clusters)
    groups = numbered(inside[topic] for topic in topics)
    number = len(np.unique(groups))
    means, differences = {}, []
    if topics:
        intervals = bootstrap(values, level, groups)
        for (name, column), interval in zip(columns.items(), intervals, strict=True):
            means[name] = Estimate(math.fsum(column) / len(column), *interval)
    if topics and pairs:
        paired = np.stack([columns[run] - columns[against] for run, against in pairs], 1)
        compute = fisher if test == "fisher" else student
        tested = number >= FEWEST
        probabilities = compute(paired, groups) if tested else [None] * len(pairs)
        corrected = correct(probabilities)
        better, spread = -paired if lower else paired, errors(paired, groups)
        alpha = (1 - level) / len(pairs)
        reachable = tested and (test != "fisher" or 2.0 ** (1 - number) <= alpha)
        for i, ((run, against), interval) in enumerate(
            zip(pairs, bootstrap(paired, level, groups), strict=True)
        ):
            now, by = corrected[i], better[:, i]
            mean = math.fsum(paired[:, i]) / len(paired)
            outcomes = (by > TIE, np.abs(by) <= TIE, by < -TIE)
            wins, ties, losses = (None if lower is None else int(o.sum()) for o in outcomes)
            differences.append(
                PairedDifference(
                    run, against, mean, *interval, probabilities[i], now,
                    now is not None and lower is not None and now <= round(1 - level, 12),
                    wins, ties, losses,
                    detectable(float(spread[i]), number, alpha) if reachable else None,
                )
            )  # fmt: skip
    ceilings = _ceilings(metric, runs)
    ceiling = ceilings.pop() if len(ceilings) == 1 else None
    by_run = {name: tuple(column.tolist()) for name, column in columns.items()}
    return MetricComparison(
        metric, lower, tuple(topics), number, ceiling, by_run, means, tuple(differences)
    )


def _ceilings(metric: str, runs: Sequence[ComparedRun]) -> set[float | None]:
    """Return the ceilings of a metric, of the runs that have any."""
    return {run.metrics["ceiling"].get(metric) for run in runs if run.metrics["ceiling"]}


def _unlimited(run: OpenedRun) -> set[str]:
    """Return the names of metrics by which an answer can score above the labels themselves."""
    kinds = [kind for kind in run.task.kinds if kind.surpassable]
    metrics = [*run.task.own_metrics, *run.besides]
    return {each.name for each in metrics if any(kind.takes(each) for kind in kinds)}


def _remarks_on(
    table: MetricComparison, runs: Sequence[ComparedRun], unlimited: Container[str]
) -> Iterator[str]:
    """Yield what a reader of the numbers must know; some metrics are `unlimited`."""
    metric, ceiling = table.metric, table.ceiling
    labelled = max(run.metrics["counts"]["scored"] for run in runs)
    if len(table.topics) != labelled:
        unit = f"scored {runs[0].metrics.get('unit', 'topic')}"
        remark = f"{metric} is taken over {len(table.topics)} of {count(labelled, unit)}"
        entries = [run.metrics["per_topic"].values() for run in runs]
        if len({sum(entry[metric] is not None for entry in each) for each in entries}) > 1:
            yield f"{remark}: those that every run has a value for."
        else:
            yield f"{remark}; the labels of the others have nothing that it counts."
    if len(_ceilings(metric, runs)) > 1:
        yield f"The runs were given different ceilings of {metric}; none is shown."
    means = table.means.items()
    above = [name for name, mean in means if ceiling is not None and mean.mean > ceiling + 1e-9]
    if above and table.lower_is_better is False and metric.rpartition(".")[2] in unlimited:
        yield (
            f"{'; '.join(above)}: {metric} is above the ceiling, which is the score of the labels "
            "themselves. This metric has no upper limit: an answer with more, and more different, "
            "headings can score higher (docs/metrics.md)."
        )
