"""``arena bench core``."""

from __future__ import annotations

import argparse
from pathlib import Path

from arena import command_line
from arena.errors import DataError

SUMMARY = "Time dated searches and whole runs on a corpus."
EXAMPLE = "arena bench core --corpus demo/world"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    command_line.add_corpus_argument(parser)
    parser.add_argument(
        "--rounds", type=int, default=5, metavar="N", help="times each is timed (default: 5)"
    )


def execute(arguments: argparse.Namespace) -> None:
    """Measure and print."""
    from arena.bench.core import measure

    if arguments.rounds < 1:
        raise DataError(f"--rounds {arguments.rounds}: give an integer >= 1.")
    rows = measure(Path(arguments.corpus), arguments.rounds)
    if arguments.json:
        keys = ("what", "value", "unit")
        command_line.print_json([dict(zip(keys, row, strict=True)) for row in rows])
    else:
        command_line.print_table(rows, ("what", "median", "unit"))
