"""``arena evaluate``: scores of what another system made, by the protocol of a suite."""

from __future__ import annotations

import argparse
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from arena.cli.app import add_command, add_group, print_json, print_table, printable

if TYPE_CHECKING:
    from arena.suites import Evaluation, Suite


def add_evaluate(commands: Any, argv: Sequence[str]) -> None:
    """Add the command ``evaluate``; if `argv` names it, with a command for each suite."""
    group = add_group(
        commands,
        "evaluate",
        "Score what another system made, by the protocol of a published benchmark.",
        "SUITE",
        "arena evaluate taxobench --data data.jsonl --predictions predictions.jsonl",
    )
    if "evaluate" not in argv[:1]:  # other commands do not wait for the suites
        return
    from arena.suites import SUITES

    for name in SUITES.names():
        suite = SUITES.get(name)
        if suite.evaluate is not None:
            add_command(
                group,
                name,
                _command(suite),
                more=_add_json,
                computed={"json": lambda arguments: arguments.json},
            )


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="Print JSON instead of text")


def _command(suite: Suite) -> Any:
    evaluate: Any = suite.evaluate

    @functools.wraps(evaluate)  # its options are those of the suite
    def command(*, json: bool, **options: Any) -> None:
        result: Evaluation = evaluate(**options)
        if json:
            print_json(result.to_json())
            return
        rows_of = result.surveys.values()  # a metric that nothing has needs no column
        names = [name for name in result.mean if any(row[name] is not None for row in rows_of)]
        rows = [
            (survey, *(row[name] for name in names), printable(row.get("reason", ""), 60))
            for survey, row in result.surveys.items()
        ]
        rows.append(("mean", *(result.mean[name] for name in names), ""))
        if result.micro:
            rows.append(("micro", *(result.micro.get(name) for name in names), ""))
        print_table(rows, ["survey", *names, ""])
        for sentence in result.problems:
            print(printable(sentence, 400))
        if result.missing:
            print(f"{len(result.missing)} of {len(result.surveys)} surveys have no prediction.")

    return command
