"""``arena replay``."""

from __future__ import annotations

import argparse

from arena import command_line
from arena.errors import ArenaError

SUMMARY = "Carry out the actions of a run again and stop at the first difference."
EXAMPLE = "arena replay runs/title --corpus demo/world"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("run", metavar="RUN", help="the directory of a run")
    command_line.add_corpus_argument(parser)


def execute(arguments: argparse.Namespace) -> None:
    """Replay and say what was found.

    Raises:
        ArenaError: if something differs.
    """
    from arena.runs import replay

    report = replay(arguments.run, arguments.corpus)
    if arguments.json:
        command_line.print_json(report.to_json())
    else:
        for remark in report.remarks:
            print(remark)
    if report.difference is not None:
        raise ArenaError(f"{report.difference}. Nothing after it was replayed.")
    if not arguments.json:
        print(f"All equal: {report.episodes} episodes, {report.steps} steps.")
