"""Scores of submitted answers by the metrics of a task, and the best possible answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from arena.errors import DataError, clip
from arena.metrics import METRICS, ScoreContext
from arena.tasks.base import TASKS, Gold, kinds_of_answers, stages_of
from arena.tasks.task_set import TaskSet

if TYPE_CHECKING:
    from arena.mindmap import MindMap
    from arena.tools import Answer

_Answers = Mapping[str, "Answer"]


def evaluate_answers(name: str, answers: _Answers, context: ScoreContext) -> dict[str, float]:
    """Score the answers submitted for one survey.

    Args:
        name: Name of the task.
        answers: Stage -> ranking, mind-map or Markdown of a report; a missing stage scores as an
            empty answer.
        context: Names the task set and the survey.

    Returns:
        Metric -> value in the order of the task; a task of several stages adds its headline, the
        mean of the stages' headlines. A stage without labels is left out, also of that mean;
        empty if no stage has any. A headline that has nothing to count is 0; another such metric
        is left out.
    """
    scores: dict[str, float] = {}
    headlines = []
    for stage, task in stages_of(name):
        if found := score_answer(answers.get(stage), task.metrics, context):
            headlines.append(found[task.headline] or 0.0)
            found[task.headline] = headlines[-1]
        scores |= {metric: score for metric, score in found.items() if score is not None}
    task = TASKS.get(name)
    if task.stages and headlines:
        scores[task.headline] = math.fsum(headlines) / len(headlines)
    return scores


def score_answer(
    answer: Any, names: Iterable[str], context: ScoreContext
) -> dict[str, float | None]:
    """Score one answer by metrics of its kind; of a report also by those of rankings.

    Args:
        answer: Ranking, mind-map or report; None is scored as an empty one.
        names: Names of the metrics.
        context: Names the task set and the survey.

    Returns:
        Metric -> value in the order of `names`, without those for which the survey has no labels;
        None where labels or report have nothing that the metric counts.
    """
    context = replace(context, submitted=answer, _kept={})
    scores: dict[str, float | None] = {}
    compared: dict[str, tuple[Any, Any] | None] = {}
    for name in names:
        metric = METRICS.get(name)
        kind = "report" if metric.kind == "survey" else metric.kind
        if kind not in compared:
            compared[kind] = _COMPARED[kind](answer, context)
        if (both := compared[kind]) is not None:
            scores[name] = metric.score(*both, context)
    return scores


def _ranking(answer: Any, context: ScoreContext) -> tuple[list[str], Mapping[str, int]] | None:
    gains = context.tasks.gold(context.survey).gains
    return (ranking_of(answer), gains) if gains else None


def _map(answer: Any, context: ScoreContext) -> tuple[MindMap, MindMap] | None:
    from arena.mindmap import MindMap

    # The best distance is 0, so a missing answer is scored as an empty map, not as 0.
    gold = context.tasks.mind_map(context.survey)
    return None if gold is None else (answer or MindMap(""), gold)


def _report(answer: Any, context: ScoreContext) -> tuple[Any, Any] | None:
    """Return the report, in which ids that are no papers stay unresolved, and its gold.

    Other forms of citations are text: an agent cites by id, and a quoted abstract may cite, too.
    """
    from arena.report import read_report
    from arena.report.metrics import ReportGold

    if not (gains := context.tasks.gold(context.survey).gains):
        return None
    report = read_report(answer or "", ["pandoc"])
    standing = context.tasks.standing(context.survey, [each.key for each in report.references])
    references = (r._replace(paper=r.key if r.key in standing else None) for r in report.references)
    return report._replace(references=tuple(references)), ReportGold(gains, standing)


_COMPARED: dict[str, Callable[[Any, ScoreContext], tuple[Any, Any] | None]] = {
    "ranking": _ranking,
    "map": _map,
    "report": _report,
}
"""Kind of answer -> what makes the answer and the gold; None for a survey without labels."""


def ranking_of(answer: list[str] | str | None) -> list[str]:
    """Return a ranking itself; of a report the ids that it cites, in order of first citation."""
    from arena.report import cited_ids
    from arena.tools import MAX_SUBMITTED

    return cited_ids(answer)[:MAX_SUBMITTED] if isinstance(answer, str) else answer or []


def can_score(name: str, tasks: TaskSet, survey_id: str) -> bool:
    """Return whether every stage of a task has labels for a survey.

    A mind-map can be made of the topic alone, so a task of mind-maps needs no known reference.
    """
    answers = kinds_of_answers(name)
    has_gold = answers == {"map"} or bool(tasks.gold(survey_id).gains)
    return has_gold and not ("map" in answers and tasks.mind_map(survey_id) is None)


def ideal_answers(name: str, tasks: TaskSet, survey_id: str) -> dict[str, Answer]:
    """Return the best possible answer to every stage that has labels.

    A mind-map files the papers in reach only: no agent can submit others. A report is
    the survey's own article, if the corpus has it, with citations of papers in reach alone; then it
    has a sentence for each reference that is not cited so far.
    """
    ideal: dict[str, Answer] = {}
    ranking = ideal_ranking(tasks.gold(survey_id))
    for stage, task in stages_of(name):
        if task.answer == "ranking":
            ideal[stage] = ranking
        elif task.answer == "report":
            ideal[stage] = _ideal_report(tasks, survey_id, ranking)
        elif (mind_map := tasks.mind_map(survey_id)) is not None:
            ideal[stage] = _limited(mind_map, frozenset(ranking))
    return ideal


def _ideal_report(tasks: TaskSet, survey_id: str, ranking: Sequence[str]) -> str:
    from arena.report.listing import cite
    from arena.report.marks import cited_ids

    text = text_in_reach(tasks, survey_id)
    cited = set(cited_ids(text))
    left = [f"The survey cites {cite([paper])}." for paper in ranking if paper not in cited]
    return "\n\n".join([text, *left]).lstrip()


def text_in_reach(tasks: TaskSet, survey_id: str) -> str:
    """Return a survey's own text without its citations of papers out of reach; empty if unknown."""
    from arena.report.listing import cite
    from arena.report.marks import replace_groups

    reached = tasks.gold(survey_id).gains
    article = tasks.article(survey_id) or ""
    return replace_groups(article, lambda keys: cite(key for key in keys if key in reached))


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
    return score_answer(answers.get(stage), [metric], context).get(metric)


def scored_stages(task: str, names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the columns of a report on a task: name of the column -> (stage, metric).

    In a task of several stages a column is called ``STAGE.METRIC``. Metrics of rankings score the
    ids that a report cites, too. A metric that needs a model, or scores what no stage of the task
    submits, is refused.
    """
    stages = stages_of(task)
    columns = {}
    for name in dict.fromkeys(names):
        metric = METRICS.get(name)
        if "model" in metric.needs:
            raise DataError(
                f"{clip(name)} needs a language model: score the written reports with the suite "
                "that has it, `arena evaluate SUITE`."
            )
        kinds = {"ranking": ("ranking", "report"), "survey": ("report",)}
        wanted = kinds.get(metric.kind, (metric.kind,))
        fitting = [stage for stage, specification in stages if specification.answer in wanted]
        if not fitting:
            what = wanted[-1] if metric.kind == "survey" else metric.kind
            raise DataError(f"{clip(name)} scores a {what}, and the task {task!r} has none.")
        for stage in fitting:
            columns[name if len(stages) == 1 else f"{stage}.{name}"] = (stage, name)
    return columns


def direction_of(column: str) -> bool | None:
    """Return `Metric.lower_is_better` of a column ``METRIC`` or ``STAGE.METRIC`` of a report.

    None for a metric that is not installed. The headline of a task of several stages is the mean of
    their headlines, of which more is better.
    """
    name = column.rpartition(".")[2]
    if name.partition("@")[0] in METRICS.names():
        return METRICS.get(name).lower_is_better
    headlines = [TASKS.get(task).headline for task in TASKS.names()]
    return False if name in headlines else None
