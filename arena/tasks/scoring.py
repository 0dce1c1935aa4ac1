"""Metrics of submitted answers, and the best possible answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from arena import metrics
from arena.errors import DataError, UnknownNameError, clip, did_you_mean
from arena.tasks.base import TASKS, Gold, Task, stages_of
from arena.tasks.task_set import TaskSet

if TYPE_CHECKING:
    from arena.mindmap import MindMap

ENCODER = "static"
"""Default encoder that compares headings."""

EXTRACTOR = "spacy"
"""Default extractor of the entities in headings."""

_Answers = Mapping[str, "list[str] | MindMap"]


def evaluate_answers(
    name: str, answers: _Answers, tasks: TaskSet, survey_id: str, encoder: str = ENCODER
) -> dict[str, float]:
    """Score the answers submitted for one survey.

    Args:
        name: Name of the task.
        answers: Stage -> ranking or mind-map; a missing stage scores as an empty answer.
        tasks: Surveys with their labels.
        survey_id: Id of the survey.
        encoder: Encoder that compares headings; rankings need none.

    Returns:
        Metric -> value in the order of the task; a task of several stages adds its headline, the
        mean of the stages' headlines. A stage without labels is left out, also of that mean;
        empty if no stage has any. A metric that cannot score these labels is left out.
    """
    scores: dict[str, float] = {}
    headlines = []
    for stage, task in stages_of(name):
        of_stage = _score(task, answers.get(stage), tasks, survey_id, encoder)
        scores |= of_stage
        if of_stage:
            headlines.append(of_stage[task.headline])
    task = TASKS.get(name)
    if task.stages and headlines:
        scores[task.headline] = math.fsum(headlines) / len(headlines)
    return scores


def _score(
    task: Task, answer: Any, tasks: TaskSet, survey_id: str, encoder: str
) -> dict[str, float]:
    if task.answer == "ranking":
        gains = tasks.gold(survey_id).gains
        return metrics.evaluate(answer or [], gains, task.metrics) if gains else {}
    gold = tasks.mind_map(survey_id)
    if gold is None:
        return {}
    from arena import mindmap

    # The best distance is 0, so a missing answer is scored as an empty map, not as 0.
    scores = mindmap.evaluate(answer or mindmap.MindMap(""), gold, task.metrics, encoder, EXTRACTOR)
    return {name: score for name, score in scores.items() if score is not None}


def can_score(name: str, tasks: TaskSet, survey_id: str) -> bool:
    """Return whether every stage of a task has labels for a survey.

    A mind-map can be made of the topic alone, so a task of mind-maps needs no known reference.
    """
    answers = {task.answer for _, task in stages_of(name)}
    has_gold = answers == {"mind_map"} or bool(tasks.gold(survey_id).gains)
    return has_gold and not ("mind_map" in answers and tasks.mind_map(survey_id) is None)


def ideal_answers(name: str, tasks: TaskSet, survey_id: str) -> dict[str, list[str] | MindMap]:
    """Return the best possible answer to every stage that has labels.

    A mind-map files the papers in reach only: no agent can submit others.
    """
    ideal: dict[str, list[str] | MindMap] = {}
    ranking = ideal_ranking(tasks.gold(survey_id))
    for stage, task in stages_of(name):
        if task.answer == "ranking":
            ideal[stage] = ranking
        elif (mind_map := tasks.mind_map(survey_id)) is not None:
            ideal[stage] = _limited(mind_map, frozenset(ranking))
    return ideal


def _limited(tree: MindMap, papers: Collection[str]) -> MindMap:
    """Return a mind-map with those of its papers that are in `papers`."""
    return replace(
        tree,
        children=tuple(_limited(child, papers) for child in tree.children),
        papers=tuple(paper for paper in tree.papers if paper in papers),
    )


def ideal_ranking(gold: Gold) -> list[str]:
    """Return the best possible submission: by gain, then in document order."""
    from arena.tools import MAX_SUBMITTED

    return sorted(gold.gains, key=lambda paper_id: -gold.gains[paper_id])[:MAX_SUBMITTED]


def measures(name: str) -> list[Callable[..., float | None]]:
    """Return the functions behind a task's metrics, whose code shapes its numbers."""
    return [metric_function(metric) for _, task in stages_of(name) for metric in task.metrics]


def metric_function(metric: str) -> Callable[..., float | None]:
    """Return the function behind a metric of rankings or of mind-maps.

    Raises:
        UnknownNameError, DataError: As `is_of_mind_maps`.
    """
    if is_of_mind_maps(metric):
        from arena.mindmap import MIND_MAP_METRICS

        return MIND_MAP_METRICS.get(metric)
    return metrics.parse(metric)[0]


def lower_is_better(metric: str) -> bool:
    """Return whether a metric is a distance.

    >>> lower_is_better("tree_edit_distance"), lower_is_better("ndcg@10")
    (True, False)
    """
    return metric.partition("@")[0].endswith(("distance", "_ted"))


def evaluate_metric(
    name: str, metric: str, answers: _Answers, tasks: TaskSet, survey_id: str, encoder: str
) -> float | None:
    """Score the answers submitted for one survey by any one metric.

    Of several stages whose answers it can score, that counts which reports it, or else the first.
    None if the survey has no labels, or none that the metric counts. Arguments are those of
    `evaluate_answers`, errors those of `scored_stages`.
    """
    fitting = [stage for stage, _ in scored_stages(name, [metric]).values()]
    reporting = (stage for stage in fitting if metric in TASKS.get(stage).metrics)
    stage = next(reporting, fitting[0])
    task = TASKS.get(stage)._replace(metrics=(metric,))
    return _score(task, answers.get(stage), tasks, survey_id, encoder).get(metric)


def scored_stages(task: str, names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the columns of a report on a task: name of the column -> (stage, metric).

    In a task of several stages a column is called ``STAGE.METRIC``.

    Raises:
        UnknownNameError: A metric is unknown.
        DataError: No stage of the task submits what a metric scores.
    """
    stages = stages_of(task)
    columns = {}
    for metric in dict.fromkeys(names):
        wanted = "mind_map" if is_of_mind_maps(metric) else "ranking"
        fitting = [stage for stage, specification in stages if specification.answer == wanted]
        if not fitting:
            what = wanted.replace("_", "-")
            raise DataError(f"{clip(metric)} scores a {what}, and the task {task!r} has none.")
        for stage in fitting:
            columns[metric if len(stages) == 1 else f"{stage}.{metric}"] = (stage, metric)
    return columns


def is_of_mind_maps(metric: str) -> bool:
    """Return whether a metric scores mind-maps, and not rankings.

    Raises:
        UnknownNameError: It is neither.
        DataError: Its cutoff is malformed.
    """
    from arena.mindmap import MIND_MAP_METRICS

    if isinstance(metric, str) and metric in MIND_MAP_METRICS.names():
        return True
    base = metric.partition("@")[0] if isinstance(metric, str) else metric
    try:
        metrics.METRICS.get(base)
    except UnknownNameError:
        known = [*metrics.METRICS.names(), *MIND_MAP_METRICS.names()]
        raise UnknownNameError(
            f"no metric named {clip(base)}.{did_you_mean(base, known)}"
        ) from None
    metrics.parse(metric)
    return False
