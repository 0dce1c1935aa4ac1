"""``arena score``."""

from __future__ import annotations

import argparse

from arena import command_line
from arena.cli.run import parse_surveys, print_summary

SUMMARY = "Score a TREC run of any system (survey Q0 paper rank score tag)."
EXAMPLE = "arena score --corpus demo/world --task selection runs/title/run.trec"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    command_line.add_corpus_argument(parser)
    parser.add_argument(
        "--task", required=True, metavar="NAME", help="one that is answered by a ranking"
    )
    parser.add_argument("run_file", metavar="RUN.trec", help="a TREC run, or a run's directory")
    parser.add_argument(
        "--surveys",
        metavar="IDS|N",
        help="survey ids with commas, or the first N (default: those that a run of `arena run` "
        "played, and of another file all)",
    )
    parser.add_argument(
        "--metrics",
        metavar="NAMES",
        help="with commas, such as recall@20,mrr (default: the task's)",
    )


def execute(arguments: argparse.Namespace) -> None:
    """Print the scores."""
    from arena.runs import score
    from arena.tasks import TaskSet

    surveys = parse_surveys(arguments.surveys, TaskSet(arguments.corpus).surveys)
    names = arguments.metrics.split(",") if arguments.metrics else None
    summary = score(arguments.corpus, arguments.task, arguments.run_file, surveys, names)
    if arguments.json:
        command_line.print_json(summary)
    else:
        print_summary(summary, "run")
