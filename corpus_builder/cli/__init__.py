"""The command ``arena-corpus``: build corpora, describe them, make tasks."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from arena.cli.app import Parser, add_group, command_line, main_command
from arena.cli.commands import commands_of
from corpus_builder.cli.build import SUMMARY, add_asked, add_build, add_work, show_s2orc
from corpus_builder.cli.collections import add_collections, show_works
from corpus_builder.cli.info import card, index, info, verify
from corpus_builder.cli.made import show_digests, show_prompts, show_selection, tasks
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
    add_work(
        group, asked, "s2orc", "corpus_builder.download.s2:download", show_s2orc,
        "Datasets of a release of Semantic Scholar, through its Datasets API.",
    )  # fmt: skip
    add_work(
        group, asked, "openalex", "corpus_builder.download.openalex:download_works", show_works,
        "Works of OpenAlex, through its API: what a search finds, or what is around your papers.",
    )  # fmt: skip
    add_collections(group, asked)
    group = add_group(commands, "export", "Write a corpus for other programs.", "FORMAT")
    add_asked(group, asked, "dataset", export_dataset)
    add_asked(commands, asked, "card", card)
    add_work(
        commands, asked, "digest", "corpus_builder.digest:make_digests", show_digests,
        "Let a model digest the papers that surveys cite; the same command resumes after a break.",
        word="directory",
    )  # fmt: skip
    for function in (freeze, index, info):
        add_asked(commands, asked, function.__name__, function)
    add_work(
        commands, asked, "prompts", "corpus_builder.prompt_writing:write_prompts", show_prompts,
        "Let a model write prompts for surveys; the same command resumes after a break.",
        word="source",
    )  # fmt: skip
    add_work(
        commands, asked, "select", "corpus_builder.selection:select_surveys", show_selection,
        "Select surveys from arXiv's metadata, as ReportBench and Bloom-Eval select theirs.",
        word="metadata",
    )  # fmt: skip
    add_asked(commands, asked, "tasks", tasks)
    add_asked(commands, asked, "verify", verify)
    for name, added in commands_of("arena-corpus").get("", {}).items():
        add_asked(commands, asked, name, added)
    return parser
