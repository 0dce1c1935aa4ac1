"""Score submitted answers: the numbers of ``metrics.json``, and of TREC runs of any system."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from arena import trec
from arena._internal.code import code_sha256
from arena._internal.files import sha256_json
from arena.corpus import Corpus
from arena.errors import CorpusError, DataError, clip, did_you_mean
from arena.metrics import evaluate, mean, parse
from arena.runs.trajectories import finished_files, refuse_changed
from arena.tasks import TASKS, TaskSet, choose_surveys, ideal_answers, stages_of
from arena.tools import MAX_SUBMITTED

Answers = Mapping[str, Any]
"""Stage -> a ranking (list of ids) or a `MindMap`."""

Scores = Mapping[str, float | None]
"""Metric -> value; None where the labels have nothing that the metric counts."""

_RunFile = dict[str, list[tuple[str, float]]]


def summarize(
    task: str,
    names: Sequence[str],
    tasks: TaskSet,
    answers: Mapping[str, Answers],
    evaluate: Callable[[Answers, str], Scores],
) -> dict[str, Any]:
    """Score the answers to surveys and report what was reachable at all.

    Args:
        task: A registered task.
        names: Names of the metrics that `evaluate` returns.
        tasks: Task set with the labels.
        answers: Survey id -> submitted answers; every survey in it is reported.
        evaluate: Function (answers, survey id) -> scores; a metric without labels is absent.

    Returns:
        ``mean`` and ``ceiling`` (metric -> value over the scored surveys, those with all metrics;
        the ceiling is the score of the best possible answers; None for no survey), ``per_survey``
        (the metrics, None without labels, with ``gold``, ``references``, ``references_total``
        counts and ``submitted``: stage -> number of papers or of headings) and ``counts``. If a
        metric is None for a survey, its mean is over the others, and ``counts["scored_by"]`` says
        over how many.
    """
    per_survey: dict[str, dict[str, Any]] = {}
    scored: list[Scores] = []
    ceilings: list[Scores] = []
    for survey_id in sorted(answers):
        gold = tasks.gold(survey_id)
        scores = evaluate(answers[survey_id], survey_id)
        if len(scores) == len(names):
            scored.append(scores)
            ceilings.append(evaluate(ideal_answers(task, tasks, survey_id), survey_id))
        per_survey[survey_id] = dict.fromkeys(names) | {
            **scores,
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
    scored_by = {name: sum(scores[name] is not None for scores in scored) for name in names}
    return {
        "mean": _means(names, scored),
        "ceiling": _means(names, ceilings),
        "per_survey": per_survey,
        "counts": {
            "surveys": len(per_survey),
            "scored": len(scored),
            "not_scored": len(per_survey) - len(scored),
            **({"scored_by": scored_by} if min(scored_by.values()) < len(scored) else {}),
            **totals,
        },
    }


def map_floors(
    task: str, tasks: TaskSet, answers: Mapping[str, Answers], encoder: str
) -> dict[str, Any]:
    """Return ``{"floors": ...}`` of the mind-maps that were submitted, as `arena.mindmap.floors`.

    Nothing for a task, or for surveys, without mind-maps.
    """
    from arena.mindmap import SCORES, MindMap, floors

    for stage, specification in stages_of(task):
        if specification.answer == "mind_map":
            golds = {survey_id: tasks.mind_map(survey_id) for survey_id in sorted(answers)}
            pairs = [
                (answers[survey_id].get(stage) or MindMap(""), gold)
                for survey_id, gold in golds.items()
                if gold is not None
            ]
            names = list(dict.fromkeys([SCORES[0], *specification.metrics]))
            return {"floors": floors(pairs, names, encoder)} if pairs else {}
    return {}


def _means(names: Sequence[str], scored: Sequence[Scores]) -> dict[str, float | None]:
    """Return the mean of each metric over the surveys that it scored."""
    means: dict[str, float | None] = {}
    for name in names:
        values = [value for scores in scored if (value := scores[name]) is not None]
        of_name = {str(number): {name: value} for number, value in enumerate(values)}
        means[name] = mean(of_name)[name] if of_name else None
    return means


def score(
    corpus: Corpus | str | Path,
    task: str,
    run_file: str | Path,
    surveys: Sequence[str] | int | None = None,
    metrics: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Score a run file (``survey Q0 paper rank score tag``) on a task.

    Papers are ranked by score, ties by document order; the rank column is ignored, and so is what
    is ranked below the first `MAX_SUBMITTED`. A survey that the run leaves out scores 0 and counts
    in the mean. A paper that is not visible at the survey's cutoff keeps its rank and is not
    relevant.

    Args:
        corpus: A built corpus, or its directory.
        task: A registered task that is answered by a ranking, such as ``selection``.
        run_file: The run, or a directory that `run` wrote.
        surveys: Ids of surveys to score, or how many in order; by default those that a run by
            `run` over this corpus played, else all of the corpus.
        metrics: Names of metrics; by default those of the task.

    Returns:
        What `summarize` returns, with ``missing`` (surveys not in the run) and ``not_visible``
        (papers in the run that are not visible) among the counts, ``task``, and ``sha256`` of
        corpus, tasks, run and code.

    Raises:
        DataError: The file is not a run or names an unknown survey, or the task does not take a
            ranking.
        CorpusError: The directory holds a run over another corpus, or one that is unfinished or
            was changed.
        UnknownNameError: The task or a survey is unknown.
    """
    corpus = Corpus.of(corpus)
    specification = TASKS.get(task)
    if specification.stages or specification.answer != "ranking":
        raise DataError(
            f"the task {task!r} is not answered by one ranking, so a TREC run cannot be scored on "
            "it. `arena rescore` scores the answers of a run."
        )
    if metrics is not None:
        for name in metric_names(metrics):
            parse(name)
        specification = specification._replace(metrics=tuple(dict.fromkeys(metrics)))
    tasks = TaskSet(corpus.directory)
    path = Path(run_file)
    run, played = _read(path, corpus)
    for survey_id in run:
        if survey_id not in tasks.surveys:
            raise DataError(
                f"{str(path)!r} ranks papers for survey {clip(survey_id)}, which this corpus "
                f"does not have.{did_you_mean(survey_id, tasks.surveys)}"
            )
    chosen = choose_surveys(tasks, played if surveys is None else surveys)
    answers = {
        survey_id: {
            task: trec.order(run.get(survey_id, []), corpus.document_number)[:MAX_SUBMITTED]
        }
        for survey_id in chosen
    }

    def scores(submitted: Answers, survey_id: str) -> dict[str, float]:
        gains = tasks.gold(survey_id).gains
        return evaluate(submitted[task], gains, specification.metrics) if gains else {}

    summary = summarize(task, specification.metrics, tasks, answers, scores)
    summary["task"] = task
    summary["sha256"] = {
        "corpus": corpus.sha256,
        "tasks": tasks.sha256,
        # as they were scored: the file may be a pipe
        "run": sha256_json({survey_id: found[task] for survey_id, found in answers.items()}),
        "code": code_sha256(*(parse(name)[0] for name in specification.metrics)),
    }
    summary["counts"]["missing"] = sum(survey_id not in run for survey_id in chosen)
    summary["counts"]["not_visible"] = not_visible(corpus, tasks, answers)
    return summary


def metric_names(metrics: Sequence[str]) -> Sequence[str]:
    """Return `metrics`; raise DataError if it is empty or one string."""
    if not metrics or isinstance(metrics, str):
        raise DataError(f"metrics={clip(metrics)}: give a list of names such as 'recall@10'.")
    return metrics


def not_visible(corpus: Corpus, tasks: TaskSet, answers: Mapping[str, Answers]) -> int:
    """Return the number of papers in rankings that are not visible at their survey's cutoff."""
    count = 0
    for survey_id, submitted in answers.items():
        view = corpus.at(tasks.survey(survey_id).date, exclude=[survey_id])
        rankings = [answer for answer in submitted.values() if isinstance(answer, list)]
        count += sum(paper_id not in view for ranking in rankings for paper_id in ranking)
    return count


def _read(path: Path, corpus: Corpus) -> tuple[_RunFile, list[str] | None]:
    """Return what a run file holds and, for a run by `arena run`, the surveys that it played."""
    directory = path if path.is_dir() else path.parent
    try:
        manifest = json.loads((directory / "manifest.json").read_bytes())
        made_on, played = manifest["sha256"]["corpus"], manifest["surveys"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        made_on = played = None
    if not path.is_dir():
        ours = path.name == "run.trec" and made_on == corpus.sha256
        return trec.read_run(path), played if ours else None
    if made_on is None:
        raise CorpusError(
            f"{str(path)!r} holds no run (no readable manifest.json). Name a run.trec file."
        )
    if made_on != corpus.sha256:
        raise CorpusError(
            f"{str(path)!r} is a run over corpus {clip(made_on)}, this is {corpus.sha256!r}. "
            "To score it all the same, name its run.trec."
        )
    files = finished_files(path, manifest)
    if "run.trec" not in files:
        raise CorpusError(
            f"{str(path)!r} holds a run of the task {clip(manifest.get('task'))}, which has no "
            "run.trec. `arena rescore` scores its answers."
        )
    refuse_changed(path, files, ["run.trec"])
    path = path / "run.trec"
    if not path.stat().st_size:
        return {}, played  # nothing was submitted; elsewhere an empty file is a mistake
    return trec.read_run(path), played
