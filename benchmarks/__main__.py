"""``python -m benchmarks``: time engines; compare baselines, date filters; simulate releases."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

from arena.cli.app import add_command, command_line, run_command
from benchmarks import dates, doors, environments, matrix, network, search, simulate
from benchmarks.report import Results, printing
from corpus_builder.sources.world import WorldSource
from corpus_builder.world import WorldConfig

COMMANDS: dict[str, tuple[Callable[..., Results], Callable[[Results], str]]] = {
    "search": (search.measure, search.show),
    "env": (environments.measure, environments.show),
    "doors": (doors.measure, doors.show),
    "dates": (dates.measure, dates.show),
    "network": (network.measure, network.show),
    "matrix": (matrix.measure, matrix.show),
    "simulate": (simulate.measure, simulate.show),
}
"""Name -> a function whose parameters are the options, and one that shows what it returns."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a benchmark; return the exit status: 2 for bad input, 130 after Ctrl-C."""
    parser, commands = command_line(
        "python -m benchmarks", str(__doc__), "python -m benchmarks search --docs 100000"
    )
    for name, (measure, show) in COMMANDS.items():
        computed: dict[str, Callable[[Any], Any]] = {"json": lambda options: options.json}
        if "world" in inspect.signature(measure).parameters:
            computed["world"] = _world
        command, more = printing(measure, show), partial(_add_more, computed)
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
