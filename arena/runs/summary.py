"""From what was handed in to the numbers of ``metrics.json``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from arena import metrics
from arena.tasks import TaskSet, ideal_answers

Answers = Mapping[str, Any]
"""Stage -> a ranking (list of ids) or a `MindMap`."""


def summarize(
    task: str,
    names: Sequence[str],
    tasks: TaskSet,
    answers: Mapping[str, Answers],
    evaluate: Callable[[Answers, str], Mapping[str, float | None]],
) -> dict[str, Any]:
    """Score what was handed in and say what was reachable at all.

    Args:
        task: a registered task.
        names: of the metrics that `evaluate` gives.
        tasks: holds the labels.
        answers: survey id -> what was handed in; every survey named here is reported.
        evaluate: (answers, survey id) -> metric -> value; metrics without labels are absent, and
            None is what a metric gives where the labels have nothing that it counts.

    Returns:
        ``mean`` and ``ceiling`` (metric -> value over the scored surveys, those with all metrics;
        the ceiling is what the best possible answers give; None for no survey), ``per_survey``
        (the metrics, None without labels, with ``gold``, ``references``, ``references_total``
        counts and ``submitted``: stage -> number of papers or of headings) and ``counts``. If a
        metric gave None, its mean is over the others, and ``counts["scored_by"]`` says over how
        many.
    """
    per_survey: dict[str, dict[str, Any]] = {}
    scores: list[Mapping[str, float | None]] = []
    ceilings: list[Mapping[str, float | None]] = []
    for survey_id in sorted(answers):
        gold = tasks.gold(survey_id)
        found = evaluate(answers[survey_id], survey_id)
        if len(found) == len(names):
            scores.append(found)
            ceilings.append(evaluate(ideal_answers(task, tasks, survey_id), survey_id))
        per_survey[survey_id] = dict.fromkeys(names) | {
            **found,
            "gold": len(gold.gains),
            "references": gold.references,
            "references_total": gold.references_total,
            "submitted": {
                stage: len(answer) if isinstance(answer, list) else answer.size
                for stage, answer in answers[survey_id].items()
            },
        }
    totals = {
        key: sum(entry[key] for entry in per_survey.values())
        for key in ("gold", "references", "references_total")
    }
    scored_by = {name: sum(found[name] is not None for found in scores) for name in names}
    return {
        "mean": _means(names, scores),
        "ceiling": _means(names, ceilings),
        "per_survey": per_survey,
        "counts": {
            "surveys": len(per_survey),
            "scored": len(scores),
            "not_scored": len(per_survey) - len(scores),
            **({"scored_by": scored_by} if min(scored_by.values()) < len(scores) else {}),
            **totals,
        },
    }


def _means(
    names: Sequence[str], scores: Sequence[Mapping[str, float | None]]
) -> dict[str, float | None]:
    """Return the mean of each metric over the surveys that it scored."""
    means: dict[str, float | None] = {}
    for name in names:
        values = [value for found in scores if (value := found[name]) is not None]
        of_name = {str(number): {name: value} for number, value in enumerate(values)}
        means[name] = metrics.mean(of_name)[name] if of_name else None
    return means
