"""Metrics of submitted answers, and the best possible answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from arena import metrics
from arena.errors import DataError, UnknownNameError, clip, did_you_mean
from arena.registry import Registry
from arena.tasks.base import TASKS, Gold, kinds_of_answers, stages_of
from arena.tasks.task_set import TaskSet

if TYPE_CHECKING:
    from arena.mindmap import MindMap
    from arena.suites.bloom_eval import Column, Pair
    from arena.tools import Answer

ENCODER = "static"
"""Default encoder that compares headings."""

EXTRACTOR = "spacy"
"""Default extractor of the entities in headings."""

_FORBIDDEN = (
    "late_rate", "undated_rate", "self_rate", "survey_rate", "fabricated_rate", "unseen_rate",
    "unresolved_count",
)  # fmt: skip

_Answers = Mapping[str, "Answer"]


def evaluate_answers(
    name: str,
    answers: _Answers,
    tasks: TaskSet,
    survey_id: str,
    encoder: str = ENCODER,
    seen: Set[str] | None = None,
) -> dict[str, float]:
    """Score the answers submitted for one survey.

    Args:
        name: Name of the task.
        answers: Stage -> ranking, mind-map or Markdown of a report; a missing stage scores as an
            empty answer.
        tasks: Surveys with their labels.
        survey_id: Id of the survey.
        encoder: Encoder that compares headings of mind-maps.
        seen: Ids that a report cites and the episode showed; None if unknown.

    Returns:
        Metric -> value in the order of the task; a task of several stages adds its headline, the
        mean of the stages' headlines. A stage without labels is left out, also of that mean;
        empty if no stage has any. A metric that cannot score these labels is left out.
    """
    scores: dict[str, float] = {}
    headlines = []
    for stage, task in stages_of(name):
        scored = score_answer(
            answers.get(stage), task.metrics, tasks, survey_id, encoder, seen
        ).items()
        of_stage = {metric: score for metric, score in scored if score is not None}
        scores |= of_stage
        if of_stage:
            headlines.append(of_stage[task.headline])
    task = TASKS.get(name)
    if task.stages and headlines:
        scores[task.headline] = math.fsum(headlines) / len(headlines)
    return scores


def score_answer(
    answer: Any,
    names: Sequence[str],
    tasks: TaskSet,
    survey_id: str,
    encoder: str = ENCODER,
    seen: Set[str] | None = None,
    extractor: str = EXTRACTOR,
) -> dict[str, float | None]:
    """Score one answer by metrics of its kind; of a report also by those of rankings.

    Args:
        answer: Ranking, mind-map or report; None is scored as an empty one.
        names: Names of the metrics.
        tasks: Surveys with their labels.
        survey_id: Id of the survey.
        encoder: Encoder that compares headings of mind-maps.
        seen: Ids that a report cites and the episode showed; None if unknown.
        extractor: Extractor of the entities in headings.

    Returns:
        Metric -> value in the order of `names`, without those for which the survey has no labels;
        None where labels or report have nothing that the metric counts.
    """
    kinds = {name: kind_of_metric(name) for name in names}
    of_maps, of_reports, of_rankings = (
        [name for name in names if kinds[name] == kind]
        for kind in ("mind_map", "report", "ranking")
    )
    scores: dict[str, float | None] = {}
    if of_maps and (gold := tasks.mind_map(survey_id)) is not None:
        from arena import mindmap

        # The best distance is 0, so a missing answer is scored as an empty map, not as 0.
        tree = answer or mindmap.MindMap("")
        scores |= mindmap.evaluate(tree, gold, of_maps, encoder, extractor)
    if gains := tasks.gold(survey_id).gains:
        if of_reports:
            scores |= dict.fromkeys(of_reports)
            scores |= score_report(answer or "", of_reports, tasks, survey_id, seen, encoder)
        if of_rankings:
            scores |= metrics.evaluate(ranking_of(answer), gains, of_rankings)
    return {name: scores[name] for name in names if name in scores}


def ranking_of(answer: list[str] | str | None) -> list[str]:
    """Return a ranking itself; of a report the ids that it cites, in order of first citation."""
    from arena.report import cited_ids
    from arena.tools import MAX_SUBMITTED

    return cited_ids(answer)[:MAX_SUBMITTED] if isinstance(answer, str) else answer or []


def score_report(
    text: str,
    names: Sequence[str],
    tasks: TaskSet,
    survey_id: str,
    seen: Set[str] | None,
    encoder: str = ENCODER,
) -> dict[str, float]:
    """Score a report by metrics of reports; ids that are no papers stay unresolved.

    Other forms of citations are text: an agent cites by id, and a quoted abstract may cite, too.
    Metrics of surveys see a bibliography of the cited papers, and the survey's own
    article with its references in reach.

    Args:
        text: Markdown that cites papers by id, in Pandoc's form.
        names: Names of the metrics.
        tasks: Surveys with their labels.
        survey_id: Id of the survey.
        seen: Ids that the report cites and the episode showed; None if unknown.
        encoder: Encoder of titles and headings.

    Returns:
        What `arena.report.metrics.evaluate` returns.
    """
    from arena.report import read_report
    from arena.report.metrics import ReportGold, evaluate

    report = read_report(text, ["pandoc"])
    standing = tasks.standing(survey_id, [each.key for each in report.references])
    references = (r._replace(paper=r.key if r.key in standing else None) for r in report.references)
    report = report._replace(references=tuple(references))

    @cache
    def pair() -> Pair:
        from arena.tasks._pairs import pair_of

        return pair_of(report, text, tasks, survey_id, encoder)

    gold = ReportGold(tasks.gold(survey_id).gains, standing, seen, lambda _: pair())
    return evaluate(report, gold, names)


def can_score(name: str, tasks: TaskSet, survey_id: str) -> bool:
    """Return whether every stage of a task has labels for a survey.

    A mind-map can be made of the topic alone, so a task of mind-maps needs no known reference.
    """
    answers = kinds_of_answers(name)
    has_gold = answers == {"mind_map"} or bool(tasks.gold(survey_id).gains)
    return has_gold and not ("mind_map" in answers and tasks.mind_map(survey_id) is None)


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
    from arena.tasks._pairs import text_in_reach

    text = text_in_reach(tasks, survey_id)
    cited = set(cited_ids(text))
    left = [f"The survey cites {cite([paper])}." for paper in ranking if paper not in cited]
    return "\n\n".join([text, *left]).lstrip()


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
    """Return the function behind a metric.

    Raises:
        UnknownNameError, DataError: As `kind_of_metric`.
    """
    kind = kind_of_metric(metric)
    return metrics.parse(metric)[0] if kind == "ranking" else _registries()[kind].get(metric)


def survey_column(metric: str) -> Column | None:
    """Return the column of a metric of surveys; None if it is another metric."""
    if kind_of_metric(metric) != "report":
        return None
    from arena.suites.bloom_eval import Column

    column = metric_function(metric)
    return column if isinstance(column, Column) else None


def compares_texts(metric: str) -> bool:
    """Return whether a metric compares headings or titles by an encoder."""
    column = survey_column(metric)
    return bool(column.metric.needs) if column else kind_of_metric(metric) == "mind_map"


def lower_is_better(metric: str) -> bool:
    """Return whether a metric is a distance, or counts citations that no report may have.

    >>> lower_is_better("tree_edit_distance"), lower_is_better("ndcg@10")
    (True, False)
    """
    return metric.partition("@")[0].endswith(("distance", "_ted", *_FORBIDDEN))


def evaluate_metric(
    name: str,
    metric: str,
    answers: _Answers,
    tasks: TaskSet,
    survey_id: str,
    encoder: str,
    seen: Set[str] | None = None,
) -> float | None:
    """Score the answers submitted for one survey by any one metric.

    Of several stages whose answers it can score, that counts which reports it, or else the first.
    None if the survey has no labels, or none that the metric counts. Arguments are those of
    `evaluate_answers`, errors those of `scored_stages`.
    """
    fitting = [stage for stage, _ in scored_stages(name, [metric]).values()]
    reporting = (stage for stage in fitting if metric in TASKS.get(stage).metrics)
    stage = next(reporting, fitting[0])
    return score_answer(answers.get(stage), [metric], tasks, survey_id, encoder, seen).get(metric)


def scored_stages(task: str, names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the columns of a report on a task: name of the column -> (stage, metric).

    In a task of several stages a column is called ``STAGE.METRIC``. Metrics of rankings score the
    ids that a report cites, too.

    Raises:
        UnknownNameError: A metric is unknown.
        DataError: No stage of the task submits what a metric scores, or a metric needs a judge.
    """
    stages = stages_of(task)
    columns = {}
    for metric in dict.fromkeys(names):
        wanted = kind_of_metric(metric)
        if column := survey_column(metric):
            column.refuse_judge()
        kinds = ("ranking", "report") if wanted == "ranking" else (wanted,)
        fitting = [stage for stage, specification in stages if specification.answer in kinds]
        if not fitting:
            what = wanted.replace("_", "-")
            raise DataError(f"{clip(metric)} scores a {what}, and the task {task!r} has none.")
        for stage in fitting:
            columns[metric if len(stages) == 1 else f"{stage}.{metric}"] = (stage, metric)
    return columns


def kind_of_metric(metric: str) -> str:
    """Return the kind of answers that a metric scores: ``ranking``, ``mind_map`` or ``report``.

    Raises:
        UnknownNameError: There is no such metric.
        DataError: Its cutoff is malformed.
    """
    for kind, registry in _registries().items():
        if isinstance(metric, str) and metric in registry.names():
            return kind
    base = metric.partition("@")[0] if isinstance(metric, str) else metric
    try:
        metrics.METRICS.get(base)
    except UnknownNameError:
        hint = did_you_mean(base, metric_names())
        raise UnknownNameError(f"no metric named {clip(base)}.{hint}") from None
    metrics.parse(metric)
    return "ranking"


def metric_names() -> list[str]:
    """Return the names of the metrics of all kinds of answers, without cutoffs."""
    return [name for each in (metrics.METRICS, *_registries().values()) for name in each.names()]


def _registries() -> dict[str, Registry[Any]]:
    from arena.mindmap import MIND_MAP_METRICS
    from arena.report.metrics import REPORT_METRICS

    return {"mind_map": MIND_MAP_METRICS, "report": REPORT_METRICS}
