"""The command ``arena``."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from arena.cli import export, judge, mindmap, serve
from arena.cli.app import add_command, add_group, command_line, run_command
from arena.cli.audit import audit
from arena.cli.check import check
from arena.cli.compare import compare
from arena.cli.evaluate import add_evaluate
from arena.cli.experiment import experiment
from arena.cli.list import list_names
from arena.cli.report import report
from arena.cli.run import replay, rescore, run, score, show
from arena.cli.search import read, search


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser, commands = command_line(
        "arena",
        "A gym for research agents: search a dated corpus, run agents on survey tasks, score them.",
        "arena run --corpus demo/world --task discovery --agent title --output runs/title",
    )
    for name, function in (
        ("search", search),
        ("read", read),
        ("run", run),
        ("score", score),
        ("rescore", rescore),
        ("compare", compare),
        ("experiment", experiment),
        ("replay", replay),
        ("show", show),
        ("report", report),
        ("list", list_names),
        ("check", check),
        ("audit", audit),
    ):
        add_command(commands, name, function)
    group = add_group(commands, "mindmap", mindmap.SUMMARY, "WHAT", mindmap.EXAMPLE)
    add_command(group, "show", mindmap.show)
    add_command(group, "score", mindmap.score)
    group = add_group(commands, "judge", judge.SUMMARY, "WHAT", judge.EXAMPLE)
    add_command(group, "run", judge.run)
    add_command(group, "statements", judge.statements)
    add_command(group, "agreement", judge.agreement)
    group = add_group(commands, "export", export.SUMMARY, "FORMAT", export.EXAMPLE)
    add_command(group, "inspect", export.inspect)
    group = add_group(commands, "serve", serve.SUMMARY, "WHAT", serve.EXAMPLE)
    add_command(group, "mcp", serve.mcp)
    add_command(group, "openenv", serve.openenv)
    add_command(group, "retrieve", serve.retrieve)
    add_evaluate(commands, sys.argv[1:] if argv is None else argv)
    return run_command(parser, argv)
