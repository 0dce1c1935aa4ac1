"""The command ``arena``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from arena.cli import export, judge, mindmap, serve
from arena.cli.app import Command, add_command, add_group, command_line, run_command
from arena.cli.audit import audit
from arena.cli.check import check
from arena.cli.compare import compare
from arena.cli.evaluate import add_evaluate
from arena.cli.experiment import experiment
from arena.cli.list import list_names
from arena.cli.report import report
from arena.cli.run import replay, rescore, run, score, show
from arena.cli.search import read, search

_COMMANDS: dict[str, Command] = {
    "search": search, "read": read, "run": run, "score": score, "rescore": rescore,
    "compare": compare, "experiment": experiment, "replay": replay, "show": show, "report": report,
    "list": list_names, "check": check, "audit": audit,
}  # fmt: skip
_GROUPS = {
    "mindmap": (mindmap, "WHAT"), "judge": (judge, "WHAT"), "export": (export, "FORMAT"),
    "serve": (serve, "WHAT"),
}  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser, commands = command_line(
        "arena",
        "A gym for research agents: search a dated corpus, run agents on survey tasks, score them.",
        "arena run --corpus demo/world --task discovery --agent title --output runs/title",
    )
    for name, function in _COMMANDS.items():
        add_command(commands, name, function)
    for name, (module, metavar) in _GROUPS.items():
        group = add_group(commands, name, module.SUMMARY, metavar, module.EXAMPLE)
        for inner in module.COMMANDS:
            add_command(group, inner.__name__, inner)
    add_evaluate(commands, sys.argv[1:] if argv is None else argv)
    return run_command(parser, argv)
