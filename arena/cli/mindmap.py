"""``arena mindmap``: show, score."""

from __future__ import annotations

import argparse

from arena.cli import _mindmap_score, _mindmap_show
from arena.command_line import add_command
from arena.command_line import add_group as add_commands

SUMMARY = "Show mind-maps as text and pictures, and score them against the survey's own."


def add_group(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``mindmap`` with a command for each thing to do."""
    parser = commands.add_parser(
        "mindmap",
        help=SUMMARY,
        description=SUMMARY,
        epilog=f"examples:\n  {_mindmap_show.EXAMPLE}\n  {_mindmap_score.EXAMPLE}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    group = add_commands(parser, "WHAT")
    add_command(group, "show", _mindmap_show)
    add_command(group, "score", _mindmap_score)
