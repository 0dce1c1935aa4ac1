"""``arena experiment``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from arena import command_line
from arena.cli.run import parse_surveys
from arena.errors import DataError, clip

SUMMARY = "Run a grid of agents and retrievers and lay it out as tables; it goes on after a break."
EXAMPLE = (
    "arena experiment configs/researcharena.yaml --corpus demo/world --output runs/paper "
    "--agents title,random,clustering"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("config", metavar="CONFIG.yaml", help="such as configs/researcharena.yaml")
    command_line.add_corpus_argument(parser)
    parser.add_argument("--output", required=True, metavar="DIR", help="for runs and tables")
    parser.add_argument("--tables", metavar="NAMES", help="with commas (default: all)")
    parser.add_argument(
        "--agents", metavar="NAMES", help="rows or agents, with commas: only these (default: all)"
    )
    parser.add_argument("--surveys", metavar="IDS|N", help="survey ids with commas, or the first N")
    parser.add_argument(
        "--retriever",
        action="append",
        metavar="LABEL=NAME",
        help="another retriever in the place of one, such as BM25=lucene; may be repeated",
    )
    parser.add_argument(
        "--set",
        action="append",
        metavar="KEY=VALUE",
        help="a key of the configuration, with dots, such as budget.max_searches=10; may be "
        "repeated",
    )
    parser.add_argument(
        "--llm-option",
        action="append",
        metavar="NAME=VALUE",
        help="short for --set llm.NAME=VALUE, such as model=... or base_url=...",
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="show the runs and how far they are; play nothing"
    )
    parser.add_argument(
        "--keep-going",
        action="store_true",
        help="play on when a run fails, and lay out the tables without it",
    )
    parser.add_argument("--overwrite", action="store_true", help="begin the runs anew")


def execute(arguments: argparse.Namespace) -> None:
    """Run, and print the tables."""
    from arena.corpus import Corpus
    from arena.results.experiments import preview, printed, run_experiment
    from arena.tasks import TaskSet

    corpus = Corpus.open(arguments.corpus)
    given: dict[str, Any] = {
        "tables": command_line.parse_names(arguments.tables),
        "agents": command_line.parse_names(arguments.agents),
        "surveys": parse_surveys(arguments.surveys, TaskSet(corpus.directory).surveys),
        "retrievers": _retrievers(arguments.retriever),
        "changes": command_line.parse_options("--set", arguments.set)
        | {
            f"llm.{name}": value
            for name, value in command_line.parse_options(
                "--llm-option", arguments.llm_option
            ).items()
        },
    }
    if arguments.dry_run:
        given["overwrite"] = arguments.overwrite
        _print_plan(preview(arguments.config, corpus, arguments.output, **given), arguments.json)
        return
    try:
        found = run_experiment(
            arguments.config,
            corpus,
            arguments.output,
            overwrite=arguments.overwrite,
            keep_going=arguments.keep_going,
            **given,
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt("The same command goes on from here.") from None
    if arguments.json:
        command_line.print_json(found)
        return
    print(printed(found))
    pages = sorted(path.name for path in Path(arguments.output).glob("comparison-*.html"))
    made = ["tables.md", "tables.tex", "tables.json", *pages, "runs/"]
    print(f"\nFiles in {arguments.output}: {', '.join(made)}.")


def _retrievers(items: list[str] | None) -> dict[str, str]:
    found = command_line.parse_options("--retriever", items)
    for label, name in found.items():
        if not isinstance(name, str):
            raise DataError(f"--retriever {label}={clip(name)}: name a retriever.")
    return found


def _print_plan(planned: list[Any], as_json: bool) -> None:
    if as_json:
        command_line.print_json([run._asdict() for run in planned])
        return
    command_line.print_table(
        [(p.run, p.agent, p.retriever, p.episodes, p.done, p.state) for p in planned],
        ("run", "agent", "retriever", "episodes", "played", "state"),
    )
    left = sum(p.episodes - min(p.done, p.episodes) for p in planned)
    print(f"{len(planned)} runs, {left} episodes to play.")
