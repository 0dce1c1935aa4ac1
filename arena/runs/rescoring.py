"""Score the answers of a run by other metrics, without playing it again."""

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
from arena.metrics import METRICS
from arena.mindmap import MIND_MAP_METRICS, MindMap, identity, needs
from arena.mindmap import evaluate as evaluate_map
from arena.mindmap.extractors import EXTRACTORS
from arena.runs import environment
from arena.runs.directory import OpenedRun
from arena.runs.results import answers_of
from arena.runs.scoring import Answers, Scores, map_floors, metric_names, not_visible, summarize
from arena.runs.trajectories import TRAJECTORIES, refuse_changed
from arena.tasks import ENCODER, EXTRACTOR, TASKS, TaskSet, evaluate_answers, measures, stages_of


def rescore(
    run: str | Path,
    corpus: Corpus | str | Path,
    metrics: Sequence[str] | None = None,
    encoder: str | None = None,
    extractor: str = EXTRACTOR,
) -> dict[str, Any]:
    """Score the recorded answers of a run; no environment, engine or agent is needed.

    Args:
        run: Directory of a run, finished or not; an incomplete last line is skipped.
        corpus: The corpus of the run, or its directory.
        metrics: Metrics of rankings, such as ``"ndcg@20"``, and of mind-maps; each scores the
            stages whose answers it takes. By default the task's own.
        encoder: Encoder by which headings are compared; by default that of the run.
        extractor: Extractor of the entities in headings, for metrics that count them.

    Returns:
        What `arena.run` returns, except what an episode spent: ``mean``, ``ceiling``,
        ``per_survey`` and ``counts``; ``task``, ``agent``, ``encoder`` (None where no heading is
        compared; names the extractor too where entities are counted), ``remarks``, and ``sha256``
        of corpus, tasks, ``answers`` and code. In a task of several stages the metrics in
        `metrics` are called ``STAGE.METRIC``. Among the counts is ``not_visible``, the number of
        papers in rankings that are not visible.

    Raises:
        UnknownNameError: A metric, the encoder or the extractor is unknown.
        DataError: No stage of the task submits what a metric scores.
        CorpusError: `run` holds no run or a damaged one, its trajectories changed after it
            finished, or the corpus or the task set is not the run's.
    """
    recorded = OpenedRun(run)
    task = recorded.task
    if encoder is None:
        encoder = str(recorded.manifest["environment"].get("encoder", ENCODER))
    ENCODERS.get(encoder)
    EXTRACTORS.get(extractor)
    columns = None if metrics is None else scored_stages(task, metric_names(metrics))
    corpus = Corpus.of(corpus)
    tasks = TaskSet(corpus.directory)
    recorded.refuse_other({"corpus": corpus.sha256, "tasks": tasks.sha256})
    if isinstance(files := recorded.manifest.get("files"), dict):
        refuse_changed(recorded.directory, files, [TRAJECTORIES])
    answers = {record["survey"]: answers_of(record) for record in recorded.episodes()}
    names: Sequence[str]
    if columns is None:
        names, functions = TASKS.get(task).metrics, measures(task)
        compares, extracts = environment.has_mind_maps(task), False
    else:
        names, functions = list(columns), [_function(metric) for _, metric in columns.values()]
        of_maps = [metric for _, metric in columns.values() if is_of_mind_maps(metric)]
        compares, extracts = bool(of_maps), any("extractor" in needs(m) for m in of_maps)

    def evaluate(submitted: Answers, survey_id: str) -> Scores:
        if columns is None:
            return evaluate_answers(task, submitted, tasks, survey_id, encoder)
        return _evaluate(columns, submitted, tasks, survey_id, encoder, extractor)

    summary = summarize(task, names, tasks, answers, evaluate)
    if columns is None:
        summary |= map_floors(task, tasks, answers, encoder)
    summary["counts"]["not_visible"] = not_visible(corpus, tasks, answers)
    plug_ins: list[Any] = [ENCODERS.get(encoder)] if compares else []
    plug_ins += [EXTRACTORS.get(extractor)] if extracts else []
    return summary | {
        "task": task,
        "agent": recorded.manifest["agent"],
        "encoder": identity(encoder, extractor if extracts else None) if compares else None,
        "remarks": recorded.remarks(len(answers)),
        "sha256": {
            "corpus": corpus.sha256,
            "tasks": tasks.sha256,
            "answers": sha256_json(
                [
                    [survey_id, [stage, answer if isinstance(answer, list) else answer.to_json()]]
                    for survey_id, submitted in sorted(answers.items())
                    for stage, answer in submitted.items()
                ]
            ),
            "code": code_sha256(*functions, *plug_ins),
        },
    }


def scored_stages(task: str, metrics: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the columns of a report on a task: name of the column -> (stage, metric).

    Raises:
        UnknownNameError: A metric is unknown.
        DataError: No stage of the task submits what a metric scores.
    """
    stages = stages_of(task)
    columns = {}
    for metric in dict.fromkeys(metrics):
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
    if isinstance(metric, str) and metric in MIND_MAP_METRICS.names():
        return True
    base = metric.partition("@")[0] if isinstance(metric, str) else metric
    if base not in METRICS.names():
        known = [*METRICS.names(), *MIND_MAP_METRICS.names()]
        raise UnknownNameError(f"no metric named {clip(base)}.{did_you_mean(base, known)}")
    ranking_metrics.parse(metric)
    return False


def _function(metric: str) -> Callable[..., float | None]:
    if is_of_mind_maps(metric):
        return MIND_MAP_METRICS.get(metric)
    return ranking_metrics.parse(metric)[0]


def _evaluate(
    columns: Mapping[str, tuple[str, str]],
    submitted: Answers,
    tasks: TaskSet,
    survey_id: str,
    encoder: str,
    extractor: str,
) -> dict[str, float | None]:
    """Return column -> score; a column without labels is absent."""
    scores: dict[str, float | None] = {}
    gains = tasks.gold(survey_id).gains
    for name, (stage, metric) in columns.items():
        answer = submitted.get(stage)
        if not is_of_mind_maps(metric):
            if gains:
                scores[name] = ranking_metrics.get(metric)(answer or [], gains)
        elif (gold := tasks.mind_map(survey_id)) is not None:
            tree = answer or MindMap("")
            scores[name] = evaluate_map(tree, gold, [metric], encoder, extractor)[metric]
    return scores
