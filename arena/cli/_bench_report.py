"""``arena bench report``."""

from __future__ import annotations

import argparse
from pathlib import Path

from arena import command_line

SUMMARY = "Print the tables of a finished benchmark, or put them into pages of documentation."
EXAMPLE = "arena bench report bench --update docs/benchmarks.md --update docs/scale.md"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("directory", metavar="DIR", help="what `arena bench retrieval` wrote")
    parser.add_argument(
        "--update",
        action="append",
        default=[],
        metavar="PAGE",
        help="replace what stands between <!-- figures: NAME --> and <!-- end --> in a page; may "
        "be repeated",
    )


def execute(arguments: argparse.Namespace) -> None:
    """Print or update."""
    from arena.bench import _pages, _tables

    results = _pages.read_results(Path(arguments.directory))
    changed = {}
    for name in arguments.update:
        changed[name] = _pages.update(Path(name), results)
    if arguments.json:
        command_line.print_json(changed if arguments.update else results)
    elif arguments.update:
        for name, blocks in changed.items():
            print(f"{name}: {', '.join(blocks)}")
    else:
        print(_tables.page(results), end="")
