"""``arena list``."""

from __future__ import annotations

import os
from inspect import getdoc
from pathlib import Path
from typing import Literal

from arena.cli.app import print_json, print_table, read_docstring
from arena.dates import GUESS_MARK
from arena.errors import ArenaError
from arena.text.display import printable

Kind = Literal[
    "agents", "encoders", "environments", "extractors", "inputs", "metrics", "mind-map-formats",
    "retrievers", "rewards", "rubrics", "suites", "surveys", "tasks", "tools",
]  # fmt: skip


def list_names(
    kind: Kind | None = None,
    *,
    corpus: str | None = None,
    tasks: str | None = None,
    json: bool = False,
) -> None:
    """List what is registered, or the surveys or indexes of a corpus.

    Args:
        kind (KIND): Agents, encoders, environments, extractors, inputs, metrics, mind-map-formats,
            retrievers, rewards, rubrics, suites, surveys, tasks or tools.
        tasks (TASKS): Directory of `arena-corpus tasks`, to list its papers as surveys.

    Example:
        arena list surveys --corpus demo/world
    """
    if kind == "surveys" or (kind is None and corpus != os.environ.get("ARENA_CORPUS")):
        _list_surveys(corpus, tasks, json)
        return
    names = _registered()
    if kind is not None:
        names = {kind: names[kind]}
    if kind == "retrievers" and corpus:
        from arena.corpus import indexes, layout

        place = Path(corpus)
        layout.read_manifest(place, check_files=False)
        names["indexes"] = indexes.describe_indexes(place, indexes.index_names(place))
    if json:
        print_json(names[kind] if kind is not None and len(names) == 1 else names)
        return
    rows = [
        (group, name, text) for group, entries in names.items() for name, text in entries.items()
    ]
    print_table(rows, ("kind", "name", "description"))


def _registered() -> dict[str, dict[str, str]]:
    from arena.agents import AGENTS
    from arena.encoders import ENCODERS
    from arena.inputs import INPUTS
    from arena.judging import RUBRICS
    from arena.metrics import METRICS
    from arena.mindmap import FORMATS
    from arena.mindmap.extractors import EXTRACTORS
    from arena.retrieval import RETRIEVERS
    from arena.rewards import REWARDS
    from arena.runs.players import ORACLE, Oracle
    from arena.suites import SUITES
    from arena.tasks import TASKS, environment_id
    from arena.tools import TOOLS

    tasks = {name: TASKS.get(name) for name in TASKS.names()}
    return {
        "agents": AGENTS.describe()
        | {ORACLE: f"{(Oracle.__doc__ or '').splitlines()[0]} It knows the labels: the ceiling."},
        "encoders": ENCODERS.describe(),
        "environments": {environment_id(name): task.description for name, task in tasks.items()},
        "extractors": EXTRACTORS.describe(),
        "inputs": {name: INPUTS.get(name).description for name in INPUTS.names()},
        "metrics": {
            name: f"{METRICS.get(name).kind}: {text}" for name, text in METRICS.describe().items()
        },
        "mind-map-formats": FORMATS.describe(),
        "retrievers": RETRIEVERS.describe(),
        "rewards": REWARDS.describe(),
        "rubrics": RUBRICS.describe(),
        "suites": {
            name: f"{text} Example: {read_docstring(getdoc(SUITES.get(name)) or '')[2]}"
            for name, text in SUITES.describe().items()
        },
        "tasks": {name: ", ".join(task.metrics) for name, task in tasks.items()},
        "tools": {name: TOOLS.get(name).description for name in TOOLS.names()},
    }


def _list_surveys(corpus: str | None, tasks: str | None, as_json: bool) -> None:
    from arena.corpus import Corpus
    from arena.tasks import TaskSet

    if not corpus:
        raise ArenaError("`arena list surveys` needs --corpus DIR.")
    opened = Path(corpus) if tasks is None else Corpus.open(corpus, tasks=tasks)
    surveys = TaskSet(opened).surveys.values()
    if as_json:
        print_json([survey._asdict() for survey in surveys])
    else:
        rows = [
            (s.id, s.date + GUESS_MARK * s.date_guessed, printable(s.title, 90),
             printable(s.domain, 50), ", ".join(s.prompts))
            for s in surveys
        ]  # fmt: skip
        shown = 3 + 2 * any(row[4] for row in rows)
        headers = ("id", "date", "title", "domain", "prompts")
        print_table([row[:shown] for row in rows], headers[:shown])
