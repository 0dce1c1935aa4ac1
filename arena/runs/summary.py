"""From rankings to the numbers of ``metrics.json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena import metrics
from arena.oracle import ideal_ranking
from arena.tasks import Task, TaskSet


def summarize(task: Task, tasks: TaskSet, rankings: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """Score rankings and say what was reachable at all.

    Args:
        task: names the metrics.
        tasks: holds the labels.
        rankings: survey id -> ids, best first; every survey named here is reported.

    Returns:
        ``mean`` and ``ceiling`` (metric -> value over the scored surveys; the ceiling is what
        submitting exactly the reachable references gives), ``per_survey`` (the metrics, or None
        for a survey without a reachable reference, with ``gold``, ``references``,
        ``references_total`` and ``submitted`` counts) and ``counts``.
    """
    per_survey: dict[str, dict[str, Any]] = {}
    scores, ceilings = {}, {}
    for survey_id in sorted(rankings):
        gold = tasks.gold(survey_id)
        entry: dict[str, Any] = dict.fromkeys(task.metrics)
        if gold.gains:
            entry = dict(metrics.evaluate(rankings[survey_id], gold.gains, task.metrics))
            scores[survey_id] = dict(entry)
            ceilings[survey_id] = metrics.evaluate(ideal_ranking(gold), gold.gains, task.metrics)
        per_survey[survey_id] = entry | {
            "gold": len(gold.gains),
            "references": gold.references,
            "references_total": gold.references_total,
            "submitted": len(rankings[survey_id]),
        }
    totals = {
        key: sum(entry[key] for entry in per_survey.values())
        for key in ("gold", "references", "references_total")
    }
    nothing = dict.fromkeys(task.metrics)
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
