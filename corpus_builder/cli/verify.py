"""``arena-corpus verify``."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path, PurePosixPath

from arena import command_line
from arena.corpus import indexes, layout
from arena.errors import CorpusError

SUMMARY = "Hash every file of a corpus again and name what differs."
EXAMPLE = "arena-corpus verify demo/world"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("directory", metavar="DIR", help="a built corpus")


def execute(arguments: argparse.Namespace) -> None:
    """Print what differs; fail if anything does."""
    from corpus_builder.verify import verify

    root = Path(arguments.directory)
    report = verify(root)
    if arguments.json:
        command_line.print_json(report)
    else:
        for name, problem in report["problems"].items():
            print(command_line.printable(f"{name}: {problem}", 1000))
        for name, command in report["begun"].items():
            print(command_line.printable(f"index {name} is begun, not complete: {command}", 1000))
    if report["problems"]:
        raise CorpusError(
            f"{len(report['problems'])} files of {arguments.directory!r} differ from the "
            f"manifest. {_cure(root, list(report['problems']))}"
        )
    if not arguments.json:
        print(f"{report['files']} files are as built.")


def _cure(root: Path, names: list[str]) -> str:
    """Say what to do; a damaged index does not ask for another corpus."""
    if all(PurePosixPath(name).parts[0] == layout.CARD for name in names):
        return f"Write the card again: `arena-corpus card {shlex.quote(str(root))}`."
    places = {PurePosixPath(name).parts[:2] for name in names}
    if all(len(place) == 2 and place[0] == layout.INDEXES for place in places):
        commands = [f"`{indexes.rebuild_command(root, index)}`" for _, index in sorted(places)]
        return f"Build again what is damaged: {', '.join(commands)}."
    return "Build the corpus again, or copy it again."
