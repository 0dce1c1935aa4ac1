"""Scores of submitted answers by the metrics of a task, and the best possible answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from arena.errors import DataError, clip
from arena.metrics import METRICS, ScoreContext
from arena.tasks.base import TASKS, kind_of, stages_of
from arena.tasks.task_set import TaskSet

if TYPE_CHECKING:
    from arena.answers import Answer

_Answers = Mapping[str, "Answer"]


def evaluate_answers(name: str, answers: _Answers, context: ScoreContext) -> dict[str, float]:
    """Score the answers submitted for one survey; a missing stage scores as an empty answer.

    A task of several stages adds its headline, the mean of the stages' headlines. A stage without
    labels is left out, also of that mean. A headline that has nothing to count is 0; another such
    metric is left out.
    """
    scores: dict[str, float] = {}
    headlines = []
    for stage, task in stages_of(name):
        if found := score_answer(stage, answers.get(stage), task.metrics, context):
            headlines.append(found[task.headline] or 0.0)
            found[task.headline] = headlines[-1]
        scores |= {metric: score for metric, score in found.items() if score is not None}
    task = TASKS.get(name)
    if task.stages and headlines:
        scores[task.headline] = math.fsum(headlines) / len(headlines)
    return scores


def score_answer(
    stage: str, answer: Any, names: Iterable[str], context: ScoreContext
) -> dict[str, float | None]:
    """Score the answer to one stage by metrics that score its kind; None is an empty answer.

    Returns:
        Metric -> value in the order of `names`, empty for a survey without labels; None where
        labels or report have nothing that the metric counts.
    """
    kind = kind_of(stage)
    if not kind.has_labels(context.tasks, context.survey):
        return {}
    context = replace(context, submitted=answer, _kept={})
    scores: dict[str, float | None] = {}
    compared: dict[str, tuple[Any, Any]] = {}
    for name in names:
        metric = METRICS.get(name)
        if metric.kind not in compared:
            compared[metric.kind] = kind.compare(answer, metric.kind, context)
        scores[name] = metric.score(*compared[metric.kind], context)
    return scores


def can_score(name: str, tasks: TaskSet, survey_id: str) -> bool:
    """Return whether every stage of a task has labels for a survey."""
    return all(kind_of(stage).has_labels(tasks, survey_id) for stage, _ in stages_of(name))


def ideal_answers(name: str, tasks: TaskSet, survey_id: str) -> dict[str, Answer]:
    """Return the best possible answer to every stage that has labels."""
    ideal = {stage: kind_of(stage).ideal(tasks, survey_id) for stage, _ in stages_of(name)}
    return {stage: answer for stage, answer in ideal.items() if answer is not None}


def functions_of(names: Iterable[str]) -> list[Callable[..., float | None]]:
    """Return the functions behind metrics, whose code shapes the numbers."""
    return [METRICS.get(name).score for name in names]


def own_metrics(task: str) -> list[str]:
    """Return the names of the metrics of all stages of a task."""
    return [metric for _, stage in stages_of(task) for metric in stage.metrics]


def needs_of(names: Iterable[str]) -> frozenset[str]:
    """Return all that metrics need of their context."""
    return frozenset().union(*(METRICS.get(name).needs for name in names))


def evaluate_metric(
    name: str, metric: str, answers: _Answers, context: ScoreContext
) -> float | None:
    """Score the answers submitted for one survey by any one metric.

    Of several stages whose answers it can score, that counts which reports it, or else the first.
    None if the survey has no labels, or none that the metric counts.
    """
    fitting = [stage for stage, _ in scored_stages(name, [metric]).values()]
    reporting = (stage for stage in fitting if metric in TASKS.get(stage).metrics)
    stage = next(reporting, fitting[0])
    return score_answer(stage, answers.get(stage), [metric], context).get(metric)


def scored_stages(task: str, names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the columns of a report on a task: name of the column -> (stage, metric).

    In a task of several stages a column is called ``STAGE.METRIC``. Metrics of rankings score the
    ids that a report cites, too. A metric that needs a model, or scores what no stage of the task
    submits, is refused.
    """
    stages = stages_of(task)
    columns = {}
    for name in dict.fromkeys(names):
        if len(stages) > 1 and name == TASKS.get(task).headline:
            raise DataError(
                f"{name} is the mean of the stages' headlines: it is scored anyway, with the "
                "task's own metrics, and the reward 'final' pays it."
            )
        metric = METRICS.get(name)
        if "model" in metric.needs:
            raise DataError(
                f"{clip(name)} needs a language model: score the written reports with the suite "
                "that has it, `arena evaluate SUITE`."
            )
        fitting = [stage for stage, _ in stages if metric.kind in kind_of(stage).scored]
        if not fitting:
            what = "report" if metric.kind == "survey" else metric.kind
            raise DataError(f"{clip(name)} scores a {what}, and the task {task!r} has none.")
        for stage in fitting:
            columns[name if len(stages) == 1 else f"{stage}.{name}"] = (stage, name)
    return columns


def nothing_submitted(task: str, entries: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return in words in how many episodes, as ``per_survey`` has them, a stage got no answer."""
    stages = stages_of(task)
    submitted = [s for e in entries for s in e.get("submitted_each", [e["submitted"]])]
    return [
        f"nothing {f'in the stage {stage} ' * (len(stages) > 1)}in {missing} of {len(submitted)} "
        "episodes; nothing scores as an empty answer."
        for stage, _ in stages
        if (missing := sum(not each.get(stage) for each in submitted))
    ]


def direction_of(column: str) -> bool | None:
    """Return `Metric.lower_is_better` of a column ``METRIC`` or ``STAGE.METRIC`` of a report.

    None for a metric that is not installed. The headline of a task of several stages is the mean of
    their headlines, of which more is better.
    """
    name = column.rpartition(".")[2]
    if name.startswith("pass@"):
        return False
    if name.partition("@")[0] in METRICS.names():
        return METRICS.get(name).lower_is_better
    headlines = [TASKS.get(task).headline for task in TASKS.names()]
    return False if name in headlines else None
