"""Judge what a finished run submitted: its mind-maps, or the statements of its reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from arena._internal.files import code_sha256, write_json
from arena.corpus import Corpus
from arena.errors import DataError
from arena.judging.judge import Judgements, judge
from arena.judging.rubric import Rubric
from arena.judging.statements import StatementJudgements, judge_reports
from arena.llm import Client
from arena.registry import option_names
from arena.report import PaperFinder, read_report, resolve
from arena.runs.directory import OpenedRun
from arena.runs.trajectories import TRAJECTORIES, answers_of
from arena.tasks import TaskSet, stages_of

if TYPE_CHECKING:
    from arena.mindmap import MindMap

_NAMES = {"mind_map": "mind-map", "report": "report"}


class FinishedRun(NamedTuple):
    """What a judge reads of a run: the answer to each survey, or None; and the hashes of it all."""

    corpus: Corpus
    tasks: TaskSet
    answers: dict[str, Any]
    sha256: dict[str, str]


def open_finished(run: str | Path, corpus: Corpus | str | Path, kind: str) -> FinishedRun:
    """Open a run for a judge.

    Args:
        run: Directory of the run.
        corpus: The corpus that it was played on.
        kind: Kind of the answers, as in `Task.answer`.

    Raises:
        CorpusError: The run is not finished or was changed, or the corpus is another one.
        DataError: The task submits no such answer.
    """
    recorded = OpenedRun(run)
    stages = [stage for stage, task in stages_of(recorded.task) if task.answer == kind]
    if not stages:
        raise DataError(
            f"{str(run)!r} is a run of the task {recorded.task!r}, which submits no {_NAMES[kind]}."
        )
    corpus = Corpus.of(corpus)
    tasks = TaskSet(corpus)
    hashes = {"corpus": corpus.sha256, "tasks": tasks.sha256}
    recorded.refuse_other(hashes)
    files = recorded.finished_files()
    recorded.refuse_changed(TRAJECTORIES)
    found = {episode["survey"]: answers_of(episode) for episode in recorded.episodes()}
    hashes |= {TRAJECTORIES: files[TRAJECTORIES], "code": code_sha256(rooms=("judging",))}
    answers = {survey_id: found[survey_id].get(stages[0]) for survey_id in sorted(found)}
    return FinishedRun(corpus, tasks, answers, hashes)


def judge_pairs(
    rubric: Rubric | str,
    pairs: Mapping[str, tuple[MindMap, MindMap | None]],
    client: Client,
    prompt: str | Path | None = None,
) -> Judgements:
    """Let a model judge mind-maps beside those of experts; it reads headings, and no papers.

    `rubric` has the fields ``expert`` and ``generated``. `pairs` maps an id to the expert's map and
    the one to judge; None and a map without headings earn the lowest score. The rest is as in
    `judge`.
    """
    from arena.mindmap import MindMap, render

    items: dict[str, dict[str, str] | None] = {}
    for name, (expert, generated) in pairs.items():
        trees = {"expert": expert, "generated": generated or MindMap("")}
        texts = {side: str(render(tree, "markdown")) for side, tree in trees.items()}
        items[name] = texts if trees["generated"].size else None
    return judge(rubric, items, client, prompt)


def judge_run(
    rubric: Rubric | str,
    run: str | Path,
    corpus: Corpus | str | Path,
    client: Client,
    prompt: str | Path | None = None,
) -> Judgements:
    """Let a model judge the mind-maps of a finished run beside the surveys' own; see `judge_pairs`.

    Surveys without a mind-map of their own are left out.

    Raises:
        CorpusError: The run is not finished or was changed, or the corpus is another one.
        DataError: The task submits no mind-map, or no survey has one of its own.
    """
    played = open_finished(run, corpus, "mind_map")
    pairs = {
        survey_id: (gold, answer)
        for survey_id, answer in played.answers.items()
        if (gold := played.tasks.mind_map(survey_id)) is not None
    }
    if not pairs:
        raise DataError(f"no survey of {str(run)!r} has a mind-map of its own to judge beside.")
    return replace(judge_pairs(rubric, pairs, client, prompt), sha256=played.sha256)


def judge_statements(
    run: str | Path, corpus: Corpus | str | Path, client: Client, **options: Any
) -> StatementJudgements:
    """Let models judge the statements of the reports of a finished run.

    What a report cites by id is looked up in the whole corpus, and read as of the survey's date.

    Args:
        run: Directory of a run of a task that submits a report.
        corpus: The corpus that it was played on.
        client: The model that extracts and compares.
        options: Further arguments of `judge_reports`.

    Raises:
        CorpusError: The run is not finished or was changed, or the corpus is another one.
        DataError: The task submits no report, or as `judge_reports`.
        LLMError: A model could not be asked.
    """
    played = open_finished(run, corpus, "report")
    finder = PaperFinder(played.tasks.paper_names())
    reports, views = {}, {}
    for survey_id, text in played.answers.items():
        reports[survey_id] = (
            None if text is None else resolve(read_report(text, ["pandoc"]), finder)
        )
        date = played.tasks.survey(survey_id).date
        views[survey_id] = played.corpus.at(date, exclude=[survey_id])
    found = judge_reports(reports, views, client, **options)
    return replace(found, sha256=played.sha256)


def record_statements(
    run: str | Path, corpus: Corpus | str | Path, options: Mapping[str, Any], option: str
) -> StatementJudgements:
    """Judge the statements of a finished run and write the verdicts into its folder.

    Writes ``judgements/statements.json`` and, for `agreement`, ``judgements/match.json``; the
    hashes of the run do not cover them.

    Args:
        run: Directory of a run of a task that submits a report.
        corpus: The corpus that it was played on.
        options: Options of the judge's `Client` and of `judge_reports`; ``voters`` are names of
            models that get the same options.
        option: What a command line calls `options`.

    Raises:
        CorpusError, DataError, LLMError: As `judge_statements` and `Client.from_options`.
    """
    known = set(option_names(judge_reports)) - {"reports", "views", "client"}
    asked = {name: value for name, value in options.items() if name not in known}
    settings = {name: value for name, value in options.items() if name in known}
    voters = settings.pop("voters", None) or ()
    voters = voters.split(",") if isinstance(voters, str) else voters
    found = judge_statements(
        run,
        corpus,
        Client.from_options(asked, option),
        voters=[Client.from_options(asked | {"model": name}, option) for name in voters],
        **settings,
    )
    folder = Path(run, "judgements")
    folder.mkdir(exist_ok=True)
    write_json(folder / "statements.json", found.to_json())
    write_json(folder / "match.json", found.matches().to_json())
    return found
