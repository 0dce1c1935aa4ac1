"""The command ``arena-corpus``: build corpora, describe them, make tasks."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from arena.cli.app import Parser, add_group, command_line, main_command
from arena.cli.commands import commands_of
from corpus_builder.cli.build import SUMMARY, add_asked, add_build, download_s2orc
from corpus_builder.cli.collections import add_collections, download_openalex
from corpus_builder.cli.info import card, index, info, verify
from corpus_builder.cli.made import digest, prompts, select, tasks
from corpus_builder.cli.sharing import export_dataset, freeze


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    return main_command("arena-corpus", make_parser, argv, {"build": "source"})


def make_parser(asked: Collection[str] | None = None) -> Parser:
    """Return the parser of the whole command line.

    Commands have options if they are among `asked`, the words of a command line; without it all do.
    """
    parser, commands = command_line(
        "arena-corpus",
        "Build corpora for the arena, add indexes, describe and verify them.",
        "arena-corpus build synthetic --output synthetic",
    )
    add_build(commands, asked)
    group = add_group(commands, "download", SUMMARY, "SOURCE")
    add_asked(group, asked, "s2orc", download_s2orc)
    add_asked(group, asked, "openalex", download_openalex)
    add_collections(group, asked)
    group = add_group(commands, "export", "Write a corpus for other programs.", "FORMAT")
    add_asked(group, asked, "dataset", export_dataset)
    for function in (card, digest, freeze, index, info, prompts, select, tasks, verify):
        add_asked(commands, asked, function.__name__, function)
    for name, added in commands_of("arena-corpus").get("", {}).items():
        add_asked(commands, asked, name, added)
    return parser
