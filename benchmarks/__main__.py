"""``python -m benchmarks``: time search engines, and integrations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from arena.cli.app import add_command, command_line, run_command
from benchmarks import integrations, search
from benchmarks.report import Results, printing

COMMANDS: dict[str, tuple[Callable[..., Results], Callable[[Results], str]]] = {
    "search": (search.measure, search.show),
    "integrations": (integrations.measure, integrations.show),
}
"""Name -> a function whose parameters are the options, and one that shows what it returns."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a benchmark; return the exit status: 2 for bad input, 130 after Ctrl-C."""
    parser, commands = command_line(
        "python -m benchmarks", str(__doc__), "python -m benchmarks search --corpus demo/synthetic"
    )
    for name, (measure, show) in COMMANDS.items():
        computed: dict[str, Callable[[Any], Any]] = {"json": lambda options: options.json}
        add_command(commands, name, printing(measure, show), more=_add_json, computed=computed)
    return run_command(parser, arguments)


def _add_json(parser: Any) -> None:
    parser.add_argument("--json", metavar="FILE", help="write all figures as JSON")


if __name__ == "__main__":
    sys.exit(main())
