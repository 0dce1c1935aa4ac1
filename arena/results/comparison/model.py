"""What a comparison holds; see `arena.compare`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Query:
    """A search as it was sent.

    Attributes:
        text: the query.
        k: hits asked for.
        offset: hits passed over.
        engine: the retriever that answered.
        gain: share of the references in reach that it showed first, None if the run does not say.
        error: what the environment said if it could not be carried out.
    """

    text: str
    k: int
    offset: int
    engine: str
    gain: float | None
    error: str | None


@dataclass(frozen=True)
class ModelUse:
    """What an episode asked a language model; None is a number that nobody knows.

    Attributes:
        model: its name.
        calls: answers, also those from a file.
        prompt_tokens: read.
        completion_tokens: written.
        dollars: as the prices were when it was asked.
        failed: answers that could not be read, after one repetition.
    """

    model: str
    calls: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    dollars: float | None
    failed: int | None


@dataclass(frozen=True)
class Episode:
    """What a run did on one survey.

    Attributes:
        queries: in order.
        curve: share of the references in reach that were shown after 0, 1, 2, ... searches; None
            if the run's reward does not count them.
        answers: stage -> a ranking (ids, best first) or a mind-map as JSON has it.
        spent: ``steps``, ``searches``, ``reads``, ``characters``.
        errors: actions that could not be carried out.
        truncated: whether the budget ended it.
        use: of a language model; None if the agent notes none.
        picture: the SVG of its mind-map beside the survey's own, or None.
    """

    queries: tuple[Query, ...]
    curve: tuple[float, ...] | None
    answers: Mapping[str, Any]
    spent: Mapping[str, int]
    errors: int
    truncated: bool
    use: ModelUse | None
    picture: str | None


@dataclass(frozen=True)
class ComparedRun:
    """A run with its name in this comparison.

    Attributes:
        name: unique.
        manifest: as the run wrote it.
        metrics: the content of ``metrics.json``.
        episodes: survey -> what was done.
    """

    name: str
    manifest: Mapping[str, Any]
    metrics: Mapping[str, Any]
    episodes: Mapping[str, Episode]


@dataclass(frozen=True)
class Estimate:
    """A mean with its confidence interval; the ends are None for fewer than two surveys."""

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Difference:
    """One run against another by one metric, paired by survey.

    Attributes:
        run: name of the one.
        against: name of the other.
        difference: mean of ``run - against``.
        low: lower end of its confidence interval, None for fewer than two surveys.
        high: upper end.
        p: of the test, None if it is not defined.
        corrected: `p` after correction for all comparisons by this metric.
        significant: whether `corrected` is at most 1 - level.
        wins: surveys on which `run` is better; for distances, lower.
        ties: surveys on which both are equal to 1e-12.
        losses: the others.
    """

    run: str
    against: str
    difference: float
    low: float | None
    high: float | None
    p: float | None
    corrected: float | None
    significant: bool
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True)
class MetricComparison:
    """All runs by one metric.

    Attributes:
        metric: its name.
        lower_is_better: true of distances.
        surveys: those that every run has a value for; everything here is over them.
        ceiling: what the best possible answers score in the mean, None if unknown.
        values: run -> its values in the order of `surveys`.
        means: run -> mean with interval.
        differences: of the pairs compared.
    """

    metric: str
    lower_is_better: bool
    surveys: tuple[str, ...]
    ceiling: float | None
    values: Mapping[str, tuple[float, ...]]
    means: Mapping[str, Estimate]
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class Effort:
    """What a run cost, summed over all its episodes; None is a number that nobody knows.

    Attributes:
        episodes: how many.
        steps: actions.
        searches: made.
        reads: made.
        characters: shown to the agent.
        errors: actions that could not be carried out.
        truncated: episodes that the budget ended.
        models: names of language models, as the agent noted them.
        calls: of them.
        prompt_tokens: read by them.
        completion_tokens: written by them.
        dollars: for them.
        failed: answers that could not be read.
    """

    episodes: int
    steps: int
    searches: int
    reads: int
    characters: int
    errors: int
    truncated: int
    models: tuple[str, ...]
    calls: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    dollars: float | None
    failed: int | None


@dataclass(frozen=True)
class Comparison:
    """Runs side by side; `arena.compare` makes it, `arena.results.comparison` has its outputs.

    Attributes:
        task: that all runs played.
        runs: in the order given.
        baseline: the name that the others are compared with; None if all pairs are.
        test: ``"fisher"`` or ``"student"``.
        correction: ``"holm"``, ``"bonferroni"`` or ``"none"``.
        level: of the intervals; significance is 1 - level.
        metrics: in the order of the task.
        headline: the metric that the page draws survey by survey.
        surveys: played by all runs, in order.
        gold: survey -> paper -> 2 (influential) or 1, of the references in reach; empty where a
            task has none.
        curves: run -> mean share of references shown after 0, 1, 2, ... searches.
        without_curve: run -> why it has none.
        efforts: run -> what it cost.
        notes: what a reader must know: in what the runs differ that may be compared all the same.
    """

    task: str
    runs: tuple[ComparedRun, ...]
    baseline: str | None
    test: str
    correction: str
    level: float
    metrics: tuple[MetricComparison, ...]
    headline: str
    surveys: tuple[str, ...]
    gold: Mapping[str, Mapping[str, int]]
    curves: Mapping[str, tuple[float, ...]]
    without_curve: Mapping[str, str]
    efforts: Mapping[str, Effort]
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(run.name for run in self.runs)
