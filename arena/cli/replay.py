"""``arena replay``."""

from __future__ import annotations

import argparse
import sys

from arena import command_line

SUMMARY = "Carry out the actions of a run again and stop at the first difference."
EXAMPLE = "arena replay runs/title --corpus demo/world"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("run", metavar="RUN", help="the directory of a run")
    command_line.add_corpus_argument(parser)


def execute(arguments: argparse.Namespace) -> None:
    """Replay and say what was found.

    Raises:
        SystemExit: with status 1, if something differs.
    """
    from arena.runs import replay

    report = replay(arguments.run, arguments.corpus)
    if arguments.json:
        command_line.print_json(report.to_json())
    else:
        for remark in report.remarks:
            print(remark)
    if report.difference is not None:
        line = f"arena replay: {report.difference}. Nothing after it was replayed."
        print(" ".join(line.split()), file=sys.stderr)
        raise SystemExit(1)
    if not arguments.json:
        print(f"All equal: {report.episodes} episodes, {report.steps} steps.")
