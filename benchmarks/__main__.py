"""``python -m benchmarks``: time engines, environments and builds; simulate releases; fit."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

from arena.cli.app import add_command, command_line, run_command
from benchmarks import builds, doors, environments, organizer, search, sessions, simulate
from benchmarks.report import printing
from corpus_builder.sources.world import WorldSource
from corpus_builder.world import WorldConfig

COMMANDS = {
    "search": search,
    "env": environments,
    "doors": doors,
    "sessions": sessions,
    "simulate": simulate,
    "build": builds,
    "organizer": organizer,
}
"""Name -> module with the functions `measure`, whose parameters are the options, and `show`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a benchmark; return the exit status: 2 for bad input, 130 after Ctrl-C."""
    parser, commands = command_line(
        "python -m benchmarks", str(__doc__), "python -m benchmarks search --docs 100000"
    )
    for name, module in COMMANDS.items():
        computed: dict[str, Callable[[Any], Any]] = {"json": lambda options: options.json}
        if "world" in inspect.signature(module.measure).parameters:
            computed["world"] = _world
        command, more = printing(module.measure, module.show), partial(_add_more, computed)
        add_command(commands, name, command, more=more, computed=computed)
    return run_command(parser, arguments)


def _add_more(computed: Collection[str], parser: Any) -> None:
    """Add the options that are no parameters."""
    parser.add_argument("--json", metavar="FILE", help="write all figures as JSON")
    if "world" in computed:
        WorldSource.add_arguments(parser)


def _world(options: Any) -> WorldConfig:
    """Return the world that the options of ``arena-corpus build world`` describe."""
    return WorldConfig(**WorldSource.from_arguments(options).describe()["config"])


if __name__ == "__main__":
    sys.exit(main())
