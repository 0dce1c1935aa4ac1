"""Score what a run handed in, by other metrics, without acting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena import metrics as ranking_metrics
from arena._internal.code import code_sha256
from arena._internal.files import sha256_json
from arena.corpus import Corpus
from arena.encoders import ENCODERS
from arena.errors import DataError, UnknownNameError, clip, did_you_mean
from arena.extractors import EXTRACTORS
from arena.metrics import METRICS
from arena.mindmap import MIND_MAP_METRICS, MindMap, identity, needs
from arena.mindmap import evaluate as evaluate_map
from arena.runs import environment
from arena.runs._opening import OpenedRun
from arena.runs.results import answers_of
from arena.runs.summary import Answers, summarize
from arena.tasks import ENCODER, EXTRACTOR, TASKS, TaskSet, evaluate_answers, measures, stages_of

_Evaluate = Callable[[Answers, str], Mapping[str, float | None]]


def rescore(
    run: str | Path,
    corpus: Corpus | str | Path,
    metrics: Sequence[str] | None = None,
    encoder: str | None = None,
    extractor: str = EXTRACTOR,
) -> dict[str, Any]:
    """Score the recorded answers of a run; no environment, engine or agent is needed.

    Args:
        run: the directory of a run, finished or not; an incomplete last line is passed over.
        corpus: the corpus that it was run with, or its directory.
        metrics: metrics of rankings, such as ``"ndcg@20"``, and of mind-maps; each scores the
            stages that hand in what it is for. By default the task's own.
        encoder: the encoder by which headings are compared; by default that of the run.
        extractor: what finds the entities in headings, for metrics that count them.

    Returns:
        What `arena.run` returns but for what an episode spent: ``mean``, ``ceiling``,
        ``per_survey`` and ``counts``; ``task``, ``agent``, ``encoder`` (None where no heading is
        compared; names the extractor too where entities are counted), ``remarks``, and ``sha256``
        of corpus, tasks, ``answers`` and code. In a task of several stages metrics that were
        asked for are called ``STAGE.METRIC``. Among the counts
        is ``not_visible``, papers in rankings that are out of reach.

    Raises:
        UnknownNameError: if a metric, the encoder or the extractor is unknown.
        DataError: if no stage of the task hands in what a metric scores.
        CorpusError: if `run` holds no run or a damaged one, or corpus or task set differ from the
            run's.
    """
    opened_run = OpenedRun(run)
    task = opened_run.task
    if encoder is None:
        encoder = str(opened_run.manifest["environment"].get("encoder", ENCODER))
    ENCODERS.get(encoder)
    EXTRACTORS.get(extractor)
    if metrics is not None and (not metrics or isinstance(metrics, str)):
        raise DataError(f"metrics={clip(metrics)}: give a list of names such as 'recall@10'.")
    asked = None if metrics is None else _asked(task, dict.fromkeys(metrics))
    corpus = Corpus.of(corpus)
    tasks = TaskSet(corpus.directory)
    opened_run.refuse_other({"corpus": corpus.sha256, "tasks": tasks.sha256})
    answers = {record["survey"]: answers_of(record) for record in opened_run.episodes()}
    if asked is None:
        names: Sequence[str] = TASKS.get(task).metrics
        functions = measures(task)
        compares = environment.has_mind_maps(task)
        evaluate: _Evaluate = lambda found, survey_id: evaluate_answers(  # noqa: E731
            task, found, tasks, survey_id, encoder
        )
    else:
        names = list(asked)
        functions = [_function(metric) for _, metric in asked.values()]
        compares = any(_is_of_maps(metric) for _, metric in asked.values())
        evaluate = _evaluator(asked, tasks, encoder, extractor)
    of_maps = [metric for _, metric in (asked or {}).values() if _is_of_maps(metric)]
    extracts = any("extractor" in needs(metric) for metric in of_maps)
    extra: list[Any] = [ENCODERS.get(encoder)] if compares else []
    extra += [EXTRACTORS.get(extractor)] if extracts else []
    summary = summarize(task, names, tasks, answers, evaluate)
    summary["counts"]["not_visible"] = _not_visible(corpus, tasks, answers)
    return summary | {
        "task": task,
        "agent": opened_run.manifest["agent"],
        "encoder": identity(encoder, extractor if extracts else None) if compares else None,
        "remarks": opened_run.remarks(len(answers)),
        "sha256": {
            "corpus": corpus.sha256,
            "tasks": tasks.sha256,
            "answers": sha256_json(
                [[s, _plain(stage)] for s, found in answers.items() for stage in found.items()]
            ),
            "code": code_sha256(*functions, *extra),
        },
    }


def _asked(task: str, metrics: dict[str, None]) -> dict[str, tuple[str, str]]:
    """Return name in the report -> (stage, metric)."""
    stages = stages_of(task)
    found = {}
    for metric in metrics:
        wanted = "mind_map" if _is_of_maps(metric) else "ranking"
        fitting = [stage for stage, specification in stages if specification.answer == wanted]
        if not fitting:
            what = wanted.replace("_", "-")
            raise DataError(f"{clip(metric)} scores a {what}, and the task {task!r} has none.")
        for stage in fitting:
            found[metric if len(stages) == 1 else f"{stage}.{metric}"] = (stage, metric)
    return found


def _is_of_maps(metric: str) -> bool:
    """Return whether a metric is one of mind-maps, and not of rankings.

    Raises:
        UnknownNameError: if it is neither.
        DataError: if its cutoff is malformed.
    """
    if isinstance(metric, str) and metric in MIND_MAP_METRICS.names():
        return True
    base = metric.partition("@")[0] if isinstance(metric, str) else metric
    if base not in METRICS.names():
        known = [*METRICS.names(), *MIND_MAP_METRICS.names()]
        raise UnknownNameError(f"no metric named {clip(base)}.{did_you_mean(base, known)}")
    ranking_metrics.parse(metric)
    return False


def _function(metric: str) -> Callable[..., float | None]:
    if _is_of_maps(metric):
        return MIND_MAP_METRICS.get(metric)
    return ranking_metrics.parse(metric)[0]


def _evaluator(
    asked: dict[str, tuple[str, str]], tasks: TaskSet, encoder: str, extractor: str
) -> _Evaluate:
    def evaluate(answers: Answers, survey_id: str) -> dict[str, float | None]:
        scores: dict[str, float | None] = {}
        gains = tasks.gold(survey_id).gains
        for name, (stage, metric) in asked.items():
            answer = answers.get(stage)
            if not _is_of_maps(metric):
                if gains:
                    scores[name] = ranking_metrics.get(metric)(answer or [], gains)
            elif (gold := tasks.mind_map(survey_id)) is not None:
                tree = answer or MindMap("")
                scores[name] = evaluate_map(tree, gold, [metric], encoder, extractor)[metric]
        return scores

    return evaluate


def _not_visible(corpus: Corpus, tasks: TaskSet, answers: dict[str, Any]) -> int:
    count = 0
    for survey_id, found in answers.items():
        view = corpus.at(tasks.survey(survey_id).date, exclude=[survey_id])
        rankings = [answer for answer in found.values() if isinstance(answer, list)]
        count += sum(paper_id not in view for ranking in rankings for paper_id in ranking)
    return count


def _plain(stage: tuple[str, Any]) -> list[Any]:
    name, answer = stage
    return [name, answer if isinstance(answer, list) else answer.to_json()]
