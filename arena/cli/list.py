"""``arena list``."""

from __future__ import annotations

import argparse
from pathlib import Path

from arena import command_line
from arena.errors import ArenaError

SUMMARY = "List what is registered, or the surveys or indexes of a corpus."
EXAMPLE = "arena list surveys --corpus demo/world"

KINDS = (
    "agents", "encoders", "environments", "extractors", "metrics", "mind-map-formats",
    "mind-map-metrics", "retrievers", "rewards", "surveys", "tasks", "tools",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "kind", nargs="?", choices=KINDS, metavar="KIND", help=f"one of {', '.join(KINDS)}"
    )
    command_line.add_corpus_argument(parser, required=False)


def execute(arguments: argparse.Namespace) -> None:
    """Print names and descriptions."""
    if arguments.kind == "surveys" or (arguments.kind is None and arguments.corpus):
        _list_surveys(arguments)
        return
    found = _registered()
    if arguments.kind:
        found = {arguments.kind: found[arguments.kind]}
    if arguments.kind == "retrievers" and arguments.corpus:
        found["indexes"] = _indexes_of(Path(arguments.corpus))
    if arguments.json:
        command_line.print_json(found[arguments.kind] if len(found) == 1 else found)
        return
    rows = [(kind, name, text) for kind, entries in found.items() for name, text in entries.items()]
    command_line.print_table(rows, ("kind", "name", "description"))


def _registered() -> dict[str, dict[str, str]]:
    from arena.agents import AGENTS
    from arena.encoders import ENCODERS
    from arena.metrics import METRICS
    from arena.mindmap import FORMATS, MIND_MAP_METRICS
    from arena.mindmap.extractors import EXTRACTORS
    from arena.retrieval import RETRIEVERS
    from arena.rewards import REWARDS
    from arena.runs.players import ORACLE, Oracle
    from arena.tasks import TASKS, environment_id
    from arena.tools import TOOLS

    tasks = {name: TASKS.get(name) for name in TASKS.names()}
    return {
        "agents": AGENTS.describe()
        | {ORACLE: f"{(Oracle.__doc__ or '').splitlines()[0]} It knows the labels: the ceiling."},
        "encoders": ENCODERS.describe(),
        "environments": {environment_id(name): task.description for name, task in tasks.items()},
        "extractors": EXTRACTORS.describe(),
        "metrics": METRICS.describe(),
        "mind-map-formats": FORMATS.describe(),
        "mind-map-metrics": MIND_MAP_METRICS.describe(),
        "retrievers": RETRIEVERS.describe(),
        "rewards": REWARDS.describe(),
        "tasks": {name: ", ".join(task.metrics) for name, task in tasks.items()},
        "tools": {name: TOOLS.get(name).description for name in TOOLS.names()},
    }


def _indexes_of(corpus: Path) -> dict[str, str]:
    from arena.corpus import indexes, layout

    layout.read_manifest(corpus, check_files=False)
    return indexes.describe_indexes(corpus, indexes.index_names(corpus))


def _list_surveys(arguments: argparse.Namespace) -> None:
    from arena.tasks import TaskSet

    if not arguments.corpus:
        raise ArenaError("`arena list surveys` needs --corpus DIR.")
    surveys = TaskSet(Path(arguments.corpus)).surveys.values()
    if arguments.json:
        command_line.print_json([survey._asdict() for survey in surveys])
    else:
        command_line.print_table(
            [(s.id, s.date, command_line.printable(s.title, 90)) for s in surveys],
            ("id", "date", "title"),
        )
