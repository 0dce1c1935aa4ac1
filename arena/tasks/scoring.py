"""Metrics of submitted answers, and the best possible answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from arena import metrics
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
    functions: list[Callable[..., float | None]] = []
    for _, task in stages_of(name):
        for metric in task.metrics:
            if task.answer == "ranking":
                functions.append(metrics.parse(metric)[0])
            else:
                from arena.mindmap import MIND_MAP_METRICS

                functions.append(MIND_MAP_METRICS.get(metric))
    return functions
