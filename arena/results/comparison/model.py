"""The content of a comparison; see `arena.compare`."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Query:
    """A search as it was sent.

    Attributes:
        text: The query.
        k: Number of hits asked for.
        offset: Number of hits skipped.
        engine: The retriever that answered.
        gain: Share of the references in reach that it was the first to show, None if the run does
            not record it.
        error: Message of the environment if it could not be carried out.
    """

    text: str
    k: int
    offset: int
    engine: str
    gain: float | None
    error: str | None


@dataclass(frozen=True)
class Effort:
    """What one or several episodes cost; None is an unknown number.

    Attributes:
        episodes: Number of episodes.
        steps: Number of actions.
        searches: Number of searches.
        reads: Number of papers read.
        characters: Characters shown to the agent.
        errors: Number of actions that could not be carried out.
        truncated: Number of episodes that the budget ended.
        models: Names of language models, as the agent records them.
        calls: Number of their answers, also those from a file.
        prompt_tokens: Tokens that they read.
        completion_tokens: Tokens that they wrote.
        dollars: Their cost at the prices of that time.
        failed: Answers that could not be parsed, after one repetition.
        seconds: Time of a run that was timed; no episode has one.
    """

    episodes: int
    steps: int
    searches: int
    reads: int
    characters: int
    errors: int
    truncated: int
    models: tuple[str, ...] = ()
    calls: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    dollars: float | None = None
    failed: int | None = None
    seconds: float | None = None

    @classmethod
    def total(cls, efforts: Iterable[Effort], seconds: float | None) -> Effort:
        """Return the sum, with the time of the run; one unknown part makes a number unknown."""
        rows = [dataclasses.asdict(effort) for effort in efforts]
        models = tuple(sorted({name for row in rows for name in row["models"]}))
        sums: Any = {
            name: None if None in (parts := [row[name] for row in rows]) else sum(parts)
            for name in rows[0].keys() - {"models", "seconds"}
        }
        return cls(models=models, seconds=seconds, **sums)


@dataclass(frozen=True)
class PlayedEpisode:
    """The episode of a run on one survey.

    Attributes:
        queries: Its queries, in order.
        curve: Share of the references in reach that were shown after 0, 1, 2, ... searches; None
            if the run's reward does not count them.
        answers: Stage -> a ranking (ids, best first), a mind-map as JSON has it, or a report.
        effort: What it cost.
        picture: The SVG of its mind-map beside the survey's own, or None.
    """

    queries: tuple[Query, ...]
    curve: tuple[float, ...] | None
    answers: Mapping[str, Any]
    effort: Effort
    picture: str | None


@dataclass(frozen=True)
class ComparedRun:
    """A run with its name in this comparison.

    Attributes:
        name: Its name, which is unique.
        manifest: Its manifest.
        metrics: Content of ``metrics.json``.
        episodes: Survey -> its episode.
        effort: What it cost.
        why_no_curve: Why its episodes have no curves, None if they have.
    """

    name: str
    manifest: Mapping[str, Any]
    metrics: Mapping[str, Any]
    episodes: Mapping[str, PlayedEpisode]
    effort: Effort
    why_no_curve: str | None

    def curve(self, surveys: Sequence[str]) -> tuple[float, ...]:
        """Return the mean curve over surveys; an episode that has ended keeps its last share."""
        curves = [self.episodes[survey].curve or (0.0,) for survey in surveys]
        longest = max(map(len, curves))
        filled = [[*curve, *[curve[-1]] * (longest - len(curve))] for curve in curves]
        return tuple(np.array(filled).mean(axis=0).tolist())


@dataclass(frozen=True)
class Estimate:
    """A mean with its confidence interval; the ends are None for fewer than two surveys."""

    mean: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class PairedDifference:
    """One run against another by one metric, paired by survey.

    Attributes:
        run: Name of the run.
        against: Name of the run that it is compared with.
        difference: Mean of ``run - against``.
        low: Lower end of its confidence interval, None for fewer than two surveys.
        high: Upper end.
        p: Two-sided p of the test, None if it is not defined.
        corrected: `p` after correction for all comparisons by this metric.
        significant: Whether `corrected` is at most 1 - level.
        wins: Surveys on which `run` is better; for distances, lower.
        ties: Surveys on which both are equal to 1e-12.
        losses: The other surveys.
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
        metric: Name of the metric.
        lower_is_better: Whether it is a distance.
        surveys: The surveys that every run has a value for; everything here is over them.
        ceiling: Mean score of the labels themselves, None if unknown.
        values: Run -> its values in the order of `surveys`.
        means: Run -> mean with interval.
        differences: Differences of the compared pairs.
    """

    metric: str
    lower_is_better: bool
    surveys: tuple[str, ...]
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
        baseline: The name that the others are compared with; None if all pairs are.
        test: ``"fisher"`` or ``"student"``.
        correction: ``"holm"``, ``"bonferroni"`` or ``"none"``.
        level: Level of the intervals; significance is 1 - level.
        metrics: One comparison per metric, in the order of the task.
        headline: The metric of the verdict, which the page draws survey by survey.
        surveys: The surveys that all runs played, in order.
        gold: Survey -> paper -> 2 (influential) or 1, of the references in reach; empty where a
            task has no ranking.
        notes: Remarks for a reader, such as differences between runs that may be compared all the
            same.
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
    notes: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(run.name for run in self.runs)

    @cached_property
    def curves(self) -> dict[str, tuple[float, ...]]:
        """Run -> mean share of references shown after 0, 1, 2, ... searches."""
        scored = sorted(survey for survey, gains in self.gold.items() if gains)
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
    def guessed(self) -> list[str]:
        """The surveys whose date is guessed."""
        return list(self.runs[0].metrics.get("dates_guessed", ()))
