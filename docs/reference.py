"""Print docs/reference.md: commands, settings and registered names, as the code has them.

python docs/reference.py > docs/reference.md
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator

HEAD = """# Reference

`python docs/reference.py` writes this page: the [commands](#commands), the
[settings of an environment](#settings-of-an-environment) and the
[registered names](#registered-names)."""
COMMANDS = """
## Commands

`COMMAND --help` describes the options and has an example.
"""
SETTINGS = """
## Settings of an environment

The fields of `arena.envs.EnvConfig`, arguments of `gymnasium.make`, and `--env-option NAME=VALUE`.
"""
NAMES = """
## Registered names

`arena list KIND` prints them. Where a name is asked for, `FILE.py:NAME` is one, too.
"""


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of all commands that have no commands below them."""
    groups = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not groups:
        yield parser
    for child in {id(c): c for group in groups for c in group.choices.values()}.values():
        yield from leaves(child)


def options(parser: argparse.ArgumentParser) -> str:
    """Return the arguments and options of a command."""
    named = parser._get_formatter()._format_action_invocation
    shown = [a for a in parser._actions if a.dest != "help" and a.help != argparse.SUPPRESS]
    return " ".join(f"`{named(a).split(', ')[-1]}`" for a in shown)


def table(rows: Iterable[Iterable[str]]) -> list[str]:
    """Return the lines of a table."""
    lines = [f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows]
    return [
        f"|{' |' * (lines[0].count(' | ') + 1)}",
        f"|{'---|' * (lines[0].count(' | ') + 1)}",
        *lines,
    ]


def page() -> str:
    """Return the page."""
    os.environ.pop("ARENA_CORPUS", None)  # it is the default of --corpus
    import arena.cli
    import arena.cli.list
    import corpus_builder.cli
    from arena.envs.config import describe_settings

    roots = [
        *map(arena.cli.make_parser, ([], ["serve"], ["evaluate"])),
        corpus_builder.cli.make_parser(),
    ]
    commands = {leaf.prog: leaf for root in roots for leaf in leaves(root)}
    rows = [
        (f"`{name}`", (leaf.description or "").split("\n\n")[0], options(leaf))
        for name, leaf in sorted(commands.items())
    ]
    parts = [HEAD, COMMANDS, *table(rows), SETTINGS]
    parts += table((f"`{name}`", text) for name, text in describe_settings().items())
    kinds = arena.cli.list._registered(None)
    parts.append(NAMES)
    described: dict[tuple[str, str], list[str]] = {}  # description -> names
    for kind, names in kinds.items():
        for name, text in names.items():
            described.setdefault((kind, text), []).append(f"`{name}`")
    parts += table((kind, ", ".join(names), text) for (kind, text), names in described.items())
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    print(page(), end="")
