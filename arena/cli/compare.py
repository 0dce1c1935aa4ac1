"""``arena compare``."""

from __future__ import annotations

import argparse
import sys

from arena import command_line
from arena.errors import DataError

SUMMARY = "Compare runs: means, intervals, paired tests, cost, and a page to look at."
EXAMPLE = (
    "arena compare demo/runs/discovery-title-bm25 demo/runs/discovery-title-dense "
    "--html compared.html --corpus demo/world"
)
_FORMATS = ("text", "markdown", "latex", "json")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "runs", nargs="+", metavar="RUN", help="the directory of a finished run, or NAME=DIR"
    )
    parser.add_argument(
        "--baseline",
        metavar="NAME",
        help="the run, by name or directory, to compare the others with (default: the first)",
    )
    parser.add_argument(
        "--all-pairs", action="store_true", help="compare every run with every other"
    )
    parser.add_argument(
        "--metric",
        action="append",
        metavar="NAME",
        help="one of the runs' metrics; may be repeated (default: all)",
    )
    parser.add_argument(
        "--test",
        default="fisher",
        metavar="NAME",
        help="fisher (randomization) or student (paired t) (default: fisher)",
    )
    parser.add_argument(
        "--correction",
        default="holm",
        metavar="NAME",
        help="of p for the number of comparisons: holm, bonferroni or none (default: holm)",
    )
    parser.add_argument(
        "--level", type=float, default=0.95, metavar="X", help="of the intervals (default: 0.95)"
    )
    parser.add_argument(
        "--format", choices=_FORMATS, default="text", help="of what is printed (default: text)"
    )
    parser.add_argument(
        "--html", metavar="FILE", help="write one page that holds everything, labels too"
    )
    command_line.add_corpus_argument(parser, required=False)


def execute(arguments: argparse.Namespace) -> None:
    """Compare, print, and write the page."""
    from arena.results import comparison

    if arguments.corpus is not None and arguments.html is None:
        raise DataError("--corpus gives the page its titles: name the page with --html.")
    if arguments.json and arguments.format not in ("text", "json"):
        raise DataError(f"--json and --format {arguments.format} contradict each other: give one.")
    found = comparison.compare(
        arguments.runs,
        arguments.baseline,
        arguments.metric,
        arguments.test,
        arguments.correction,
        arguments.level,
        arguments.all_pairs,
    )
    if arguments.html is not None:
        comparison.write_html(found, arguments.html, arguments.corpus)
    if arguments.json or arguments.format == "json":
        command_line.print_json(comparison.as_json(found))
        return
    write = {
        "text": comparison.as_text,
        "markdown": comparison.as_markdown,
        "latex": comparison.as_latex,
    }[arguments.format]
    sys.stdout.write(write(found))
