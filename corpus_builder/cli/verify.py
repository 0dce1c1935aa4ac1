"""``arena-corpus verify``."""

from __future__ import annotations

import argparse

from arena import command_line
from arena.errors import CorpusError

SUMMARY = "Hash every file of a corpus again and name what differs."
EXAMPLE = "arena-corpus verify demo/world"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("directory", metavar="DIR", help="a built corpus")


def execute(arguments: argparse.Namespace) -> None:
    """Print what differs; fail if anything does."""
    from corpus_builder.verify import verify

    report = verify(arguments.directory)
    if arguments.json:
        command_line.print_json(report)
    else:
        for name, problem in report["problems"].items():
            print(command_line.printable(f"{name}: {problem}", 1000))
    if report["problems"]:
        raise CorpusError(
            f"{len(report['problems'])} files of {arguments.directory!r} differ from the "
            "manifest. Build the corpus again, or copy it again."
        )
    if not arguments.json:
        print(f"{report['files']} files are as built.")
