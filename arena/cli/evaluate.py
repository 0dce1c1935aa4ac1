"""``arena evaluate``: scores of what another system made, by the protocol of a suite."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from arena.cli.app import add_command, add_group, print_json, print_table, printable, resumable

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
            add_command(group, name, _command(suite))


def _command(suite: Suite) -> Any:
    evaluate: Any = suite.evaluate

    def command(*, json: bool, **options: Any) -> None:
        # Of what a model answers, a second run asks nothing again.
        with resumable() if options.get("llm_option") else nullcontext():
            result: Evaluation = evaluate(**options)
        if json:
            print_json(result.to_json())
            return
        headers, rows = result.table()
        shown = [[printable(c, 60) if isinstance(c, str) else c for c in row] for row in rows]
        print_table(shown, headers)
        for sentence in result.problems:
            print(printable(sentence, 400))
        if result.missing:
            print(f"{len(result.missing)} of {len(result.surveys)} surveys have no prediction.")

    signature = inspect.signature(evaluate, eval_str=True)
    as_json = inspect.Parameter(
        "json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=bool
    )
    options = [*signature.parameters.values(), as_json]
    command.__doc__ = evaluate.__doc__
    command.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    return command
