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
    evaluate: Callable[[Answers, str], Mapping[str, float]],
) -> dict[str, Any]:
    """Score what was handed in and say what was reachable at all.

    Args:
        task: a registered task.
        names: of the metrics that `evaluate` gives.
        tasks: holds the labels.
        answers: survey id -> what was handed in; every survey named here is reported.
        evaluate: (answers, survey id) -> metric -> value; metrics without labels are absent.

    Returns:
        ``mean`` and ``ceiling`` (metric -> value over the scored surveys, those with all metrics;
        the ceiling is what the best possible answers give), ``per_survey`` (the metrics, None
        without labels, with ``gold``, ``references``, ``references_total`` counts and
        ``submitted``: stage -> number of papers or of headings) and ``counts``.
    """
    per_survey: dict[str, dict[str, Any]] = {}
    scores, ceilings = {}, {}
    for survey_id in sorted(answers):
        gold = tasks.gold(survey_id)
        found = evaluate(answers[survey_id], survey_id)
        if len(found) == len(names):
            scores[survey_id] = dict(found)
            ceilings[survey_id] = evaluate(ideal_answers(task, tasks, survey_id), survey_id)
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
    nothing = dict.fromkeys(names)
    return {
        "mean": metrics.mean(scores) if scores else nothing,
        "ceiling": metrics.mean(ceilings) if ceilings else nothing,
        "per_survey": per_survey,
        "counts": {
            "surveys": len(per_survey),
            "scored": len(scores),
            "not_scored": len(per_survey) - len(scores),
            **totals,
        },
    }
