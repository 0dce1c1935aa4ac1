"""Which judge reads the answers of a run, for the columns of experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from arena.corpus import Corpus
from arena.llm import Client
from arena.tasks import Task
from arena_suites.judging.judge import MAP, REPORT, record_maps, rubric_of_maps
from arena_suites.verification.statements import NUMBERS, RATES, read_options, record_statements

Record = Callable[[str | Path, Corpus | str | Path, Mapping[str, Any], str], Any]


class RunJudge(NamedTuple):
    """A judge of one kind of answers.

    Attributes:
        name: Name of its file of verdicts, ``judgements/NAME.json`` in the folder of a run.
        numbers: Names of the means that it reports.
        record: Judges a finished run on a corpus and writes the verdicts; the other arguments are
            options and what a command line calls them.
        check: Refuses such options before a run.
        directed: Those of the numbers of which more is better.
        values: Topic -> number -> its value, of a file of verdicts.
    """

    name: str
    numbers: tuple[str, ...]
    record: Record
    check: Callable[[Mapping[str, Any], str], object]
    directed: tuple[str, ...]
    values: Callable[[Mapping[str, Any]], dict[str, dict[str, float | None]]]


def judge_of(task: Task) -> RunJudge | None:
    """Return the judge of what a task submits, of mind-maps before reports; None without one."""
    rubric, scored = rubric_of_maps(), {kind for answer in task.kinds for kind in answer.scored}
    numbers = (*rubric.dimensions, "average")
    record = partial(record_maps, rubric)
    judges = {
        MAP: RunJudge(rubric.name, numbers, record, Client.from_options, numbers, _of_maps),
        REPORT: RunJudge(
            "statements", NUMBERS, record_statements, read_options, RATES, _of_reports
        ),
    }
    return next((judge for kind, judge in judges.items() if kind in scored), None)


def _of_maps(verdicts: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    scores = {topic: row.get("scores", {}) for topic, row in verdicts["items"].items()}
    return {s: own | {"average": fmean(own.values()) if own else None} for s, own in scores.items()}


def _of_reports(verdicts: Mapping[str, Any]) -> dict[str, dict[str, float | None]]:
    return {topic: row["counts"] | row["rates"] for topic, row in verdicts["reports"].items()}
