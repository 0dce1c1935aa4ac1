"""Which judge reads the answers of a run, for the columns of experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from arena.corpus import Corpus
from arena.llm import Client
from arena.tasks import Task
from arena_suites.judging.judge import MAP, REPORT, record_maps, rubric_of_maps
from arena_suites.verification.statements import NUMBERS, read_options, record_statements

Record = Callable[[str | Path, Corpus | str | Path, Mapping[str, Any], str], Any]


class RunJudge(NamedTuple):
    """A judge of one kind of answers.

    Attributes:
        name: Name of its file of verdicts, ``judgements/NAME.json`` in the folder of a run.
        numbers: Names of the means that it reports.
        record: Judges a finished run on a corpus and writes the verdicts; the other arguments are
            options and what a command line calls them.
        check: Refuses such options before a run.
    """

    name: str
    numbers: tuple[str, ...]
    record: Record
    check: Callable[[Mapping[str, Any], str], object]


def judge_of(task: Task) -> RunJudge | None:
    """Return the judge of what a task submits, of mind-maps before reports; None without one."""
    rubric, scored = rubric_of_maps(), {kind for answer in task.kinds for kind in answer.scored}
    numbers = (*rubric.dimensions, "average")
    judges = {
        MAP: RunJudge(rubric.name, numbers, partial(record_maps, rubric), Client.from_options),
        REPORT: RunJudge("statements", NUMBERS, record_statements, read_options),
    }
    return next((judge for kind, judge in judges.items() if kind in scored), None)
