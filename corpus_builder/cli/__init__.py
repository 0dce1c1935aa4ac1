"""The command ``arena-corpus``: build, download, index, info, verify."""

from __future__ import annotations

from collections.abc import Sequence

from arena.command_line import add_command, command_line, run_command
from corpus_builder.cli import build, card, download, index, info, verify


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser, commands = command_line(
        "arena-corpus",
        "Build corpora for the arena, add indexes, describe and verify them.",
        "arena-corpus build world --output world",
    )
    build.add_group(commands)
    download.add_group(commands)
    add_command(commands, "card", card)
    add_command(commands, "index", index)
    add_command(commands, "info", info)
    add_command(commands, "verify", verify)
    return run_command(parser, argv)
