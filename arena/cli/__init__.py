"""The command ``arena``, one module a subcommand."""

from __future__ import annotations

from collections.abc import Sequence

from arena.cli import (
    audit,
    check,
    compare,
    experiment,
    mindmap,
    replay,
    rescore,
    run,
    score,
    search,
)
from arena.cli import list as list_command
from arena.command_line import add_command, command_line, run_command


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser, commands = command_line(
        "arena",
        "A gym for research agents: search a dated corpus, run agents on survey tasks, score them.",
        run.EXAMPLE,
    )
    add_command(commands, "search", search)
    add_command(commands, "run", run)
    add_command(commands, "score", score)
    add_command(commands, "rescore", rescore)
    add_command(commands, "compare", compare)
    add_command(commands, "experiment", experiment)
    add_command(commands, "replay", replay)
    mindmap.add_group(commands)
    add_command(commands, "list", list_command)
    add_command(commands, "check", check)
    add_command(commands, "audit", audit)
    return run_command(parser, argv)
