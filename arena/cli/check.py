"""``arena check``."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from arena import command_line
from arena.errors import DataError, NoLabelsError

SUMMARY = "Check environments: spaces, seeds, pickling, vectors, rewards, budgets, no gold."
EXAMPLE = "arena check arena/Discovery-v0 --corpus demo/world"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "environments",
        nargs="*",
        metavar="ENV_ID",
        help="ids, those of another distribution as module:id (default: all of this project)",
    )
    command_line.add_corpus_argument(parser)
    parser.add_argument(
        "--env-option",
        action="append",
        metavar="NAME=VALUE",
        help="an argument of the environments, such as retriever=dense; may be repeated",
    )
    parser.add_argument(
        "--checks", metavar="NAMES", help="names of checks with commas (default: all)"
    )
    parser.add_argument(
        "--episodes", type=int, default=5, metavar="N", help="recorded episodes (default: 5)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default: 0")


def execute(arguments: argparse.Namespace) -> None:
    """Check and print; exit with 1 if a check failed."""
    from arena.tasks import environment_ids
    from arena.testing import check_environment

    results, left_out = [], {}
    for env_id in dict.fromkeys(arguments.environments or environment_ids()):
        try:
            results += check_environment(
                env_id,
                arguments.corpus,
                options=command_line.parse_options("--env-option", arguments.env_option),
                episodes=arguments.episodes,
                seed=arguments.seed,
                checks=command_line.parse_names(arguments.checks),
            )
        except NoLabelsError as error:
            if arguments.environments:
                raise
            left_out[env_id] = str(error)  # not asked for, and this corpus has nothing to play
    if not results:
        raise DataError(
            "nothing was checked: name a check with --checks, or a corpus that can be scored."
        )
    _print(results, left_out, arguments.json)
    if failed := [result for result in results if not result.passed]:
        for result in failed:
            line = f"{result.environment}: {result.check} FAILED: {result.detail}"
            print(f"arena check: {line}", file=sys.stderr)
        sys.exit(1)


def _print(results: list[Any], left_out: dict[str, str], as_json: bool) -> None:
    if as_json:
        found = [result._asdict() for result in results]
        command_line.print_json({"results": found, "left_out": left_out})
        return
    rows = [
        (
            r.environment,
            r.check,
            "ok" if r.passed else "FAILED",
            command_line.printable(r.detail, 120),
        )
        for r in results
    ]
    command_line.print_table(rows, ("environment", "check", "", "detail"))
    for env_id, why in left_out.items():
        print(f"{env_id} was left out: {why}")
    failed = sum(not result.passed for result in results)
    print(f"{len(results) - failed} of {len(results)} checks passed.")
