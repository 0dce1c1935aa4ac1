"""``arena-corpus card``."""

from __future__ import annotations

import argparse

from arena import command_line

SUMMARY = "Write the dataset card of a corpus: counts, the paper's figure 4, what was lost."
EXAMPLE = "arena-corpus card demo/world"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("directory", metavar="DIR", help="a built corpus")
    parser.add_argument(
        "--memory", default="1GB", metavar="SIZE", help="for counting (default: 1GB)"
    )


def execute(arguments: argparse.Namespace) -> None:
    """Write the card and say where it is."""
    from corpus_builder.card import write_card

    memory = command_line.parse_size("--memory", arguments.memory)
    card = write_card(arguments.directory, memory=memory)
    if arguments.json:
        command_line.print_json(card)
        return
    counts = card["counts"]
    rows = [
        ("card", ", ".join(card["files"])),
        ("disciplines", f"{counts['papers_with_discipline']:,} of {counts['papers']:,} papers, "
                        f"{counts['surveys_with_discipline']:,} of {counts['surveys']:,} survey "
                        "tasks"),
        ("coverage", f"{counts['surveys_half_in_corpus']:,} of "
                     f"{counts['surveys_with_references']:,} survey tasks have at least half of "
                     f"their references in the corpus, {counts['surveys_half_in_reach']:,} in "
                     "reach"),
        ("mind-maps", f"{counts['mind_maps']:,} ({counts['mind_maps_unreadable']:,} more cannot "
                      "be read)"),
    ]  # fmt: skip
    for name, value in rows:
        print(f"{name:11}  {command_line.printable(value, 1000)}")
