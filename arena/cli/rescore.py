"""``arena rescore``."""

from __future__ import annotations

import argparse

from arena import command_line
from arena.cli.run import print_summary
from arena.tasks import EXTRACTOR

SUMMARY = "Score what a run handed in by other metrics, without acting."
EXAMPLE = "arena rescore runs/title --corpus demo/world --metric ndcg@20 --metric recall@50"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("run", metavar="RUN", help="the directory of a run")
    command_line.add_corpus_argument(parser)
    parser.add_argument(
        "--metric",
        action="append",
        metavar="NAME",
        help="such as ndcg@20; may be repeated (default: the task's; `arena list metrics`)",
    )
    parser.add_argument(
        "--encoder", metavar="NAME", help="compares headings of mind-maps (default: the run's)"
    )
    parser.add_argument(
        "--extractor",
        default=EXTRACTOR,
        metavar="NAME",
        help=f"finds the entities in headings (default: {EXTRACTOR}; `arena list extractors`)",
    )


def execute(arguments: argparse.Namespace) -> None:
    """Print the scores."""
    from arena.runs import rescore

    summary = rescore(
        arguments.run, arguments.corpus, arguments.metric, arguments.encoder, arguments.extractor
    )
    if arguments.json:
        command_line.print_json(summary)
        return
    print_summary(summary, summary["agent"])
    for remark in summary["remarks"]:
        print(remark)
