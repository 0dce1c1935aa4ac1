"""Score a TREC run that any system wrote."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena import trec
from arena._internal.code import code_sha256
from arena._internal.files import sha256_json
from arena.corpus import Corpus
from arena.envs._setting import opened
from arena.errors import CorpusError, DataError, clip, did_you_mean
from arena.metrics import evaluate, parse
from arena.runs.summary import Answers, summarize
from arena.tasks import TASKS, TaskSet, choose_surveys
from arena.tools import MAX_SUBMITTED


def score(
    corpus: Corpus | str | Path,
    task: str,
    run_file: str | Path,
    surveys: Sequence[str] | int | None = None,
    metrics: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Score a run file (``survey Q0 paper rank score tag``) on a task.

    Papers are ranked by score, ties by document order; the rank column does not count, nor does
    what lies below the first `MAX_SUBMITTED`. A survey that the run leaves out scores 0, it does
    not leave the mean. A paper that is not visible at the survey's cutoff keeps its place and is
    not relevant.

    Args:
        corpus: a built corpus, or its directory.
        task: a registered task that is answered by a ranking, such as ``selection``.
        run_file: the run, or a directory that `run` wrote.
        surveys: ids to score, or how many in order; by default those that a run of ours over
            this corpus played, or all of the corpus.
        metrics: names of metrics; by default those of the task.

    Returns:
        What `arena.runs.summary.summarize` returns, with ``missing`` (surveys not in the run)
        and ``not_visible`` (papers in the run that are out of reach) among the counts, ``task``,
        and ``sha256`` of corpus, tasks, run and code.

    Raises:
        DataError: if the file is no run or names an unknown survey, or the task wants no ranking.
        CorpusError: if it is a directory with a run over another corpus.
        UnknownNameError: if the task or a survey is unknown.
    """
    corpus = opened(corpus)
    specification = TASKS.get(task)
    if specification.stages or specification.answer != "ranking":
        raise DataError(
            f"the task {task!r} is not answered by one ranking, so no TREC run can be scored on "
            "it. `arena rescore` scores what a run handed in."
        )
    if metrics is not None:
        if not metrics or isinstance(metrics, str):
            raise DataError(f"metrics={clip(metrics)}: give a list of names such as 'recall@10'.")
        for name in metrics:
            parse(name)
        specification = specification._replace(metrics=tuple(dict.fromkeys(metrics)))
    tasks = TaskSet(corpus.directory)
    path = Path(run_file)
    found, played = _read(path, corpus)
    surveys = played if surveys is None else surveys
    for survey_id in found:
        if survey_id not in tasks.surveys:
            raise DataError(
                f"{str(path)!r} ranks papers for survey {clip(survey_id)}, which this corpus "
                f"does not have.{did_you_mean(survey_id, tasks.surveys)}"
            )
    chosen = choose_surveys(tasks, surveys)
    rankings, not_visible = {}, 0
    for survey_id in chosen:
        ranking = trec.order(found.get(survey_id, []), corpus.document_number)[:MAX_SUBMITTED]
        view = corpus.at(tasks.survey(survey_id).date, exclude=[survey_id])
        not_visible += sum(paper_id not in view for paper_id in ranking)
        rankings[survey_id] = ranking

    def scores(answers: Answers, survey_id: str) -> dict[str, float]:
        gains = tasks.gold(survey_id).gains
        return evaluate(answers[task], gains, specification.metrics) if gains else {}

    handed_in = {survey_id: {task: ranking} for survey_id, ranking in rankings.items()}
    summary = summarize(task, specification.metrics, tasks, handed_in, scores)
    summary["task"] = task
    summary["sha256"] = {
        "corpus": corpus.sha256,
        "tasks": tasks.sha256,
        "run": sha256_json(rankings),  # as they were scored: the file may be a pipe
        "code": code_sha256(*(parse(name)[0] for name in specification.metrics)),
    }
    summary["counts"]["missing"] = sum(survey_id not in found for survey_id in chosen)
    summary["counts"]["not_visible"] = not_visible
    return summary


_Found = dict[str, list[tuple[str, float]]]


def _read(path: Path, corpus: Corpus) -> tuple[_Found, list[str] | None]:
    """Return what a run file holds and, for a run of ours, the surveys that it played."""
    directory = path if path.is_dir() else path.parent
    try:
        manifest = json.loads((directory / "manifest.json").read_bytes())
        made_on, played = manifest["sha256"]["corpus"], manifest["surveys"]
    except (OSError, ValueError, LookupError, TypeError):
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
            "Score its run.trec if that is meant."
        )
    path = path / "run.trec"
    if path.is_file() and not path.stat().st_size:
        return {}, played  # nothing was submitted; elsewhere an empty file is a mistake
    return trec.read_run(path), played
