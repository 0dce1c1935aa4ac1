"""``python -m benchmarks``: time engines, environments and builds; simulate releases; fit."""

from __future__ import annotations

import sys
from collections.abc import Sequence
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
        made_of_worlds = module in (simulate, builds)

        def more(parser: Any, with_world: bool = made_of_worlds) -> None:
            parser.add_argument("--json", metavar="FILE", help="write all figures as JSON")
            if with_world:
                WorldSource.add_arguments(parser)

        computed = {"json": lambda options: options.json}
        if made_of_worlds:
            computed["world"] = _world
        command = printing(module.measure, module.show)
        add_command(commands, name, command, more=more, computed=computed)
    return run_command(parser, arguments)


def _world(options: Any) -> WorldConfig:
    """Return the world that the options of ``arena-corpus build world`` describe."""
    return WorldConfig(**WorldSource.from_arguments(options).describe()["config"])


if __name__ == "__main__":
    sys.exit(main())
