"""List on docs/reference.md, for the site: commands, settings and names, as the code has them."""

from __future__ import annotations

import argparse
import itertools
import os
import re
from collections.abc import Iterator


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Yield the parsers of all commands that have no commands below them."""
    groups = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    if not groups:
        yield parser
    for child in {id(c): c for group in groups for c in group.choices.values()}.values():
        yield from leaves(child)


def bullet(name: str, text: str) -> str:
    """Return an item of a list; nothing in the text is markup but code."""
    parts = " ".join(text.split()).replace("``", "`").split("`")
    parts[::2] = [re.sub(r"([<*$_\\[])", r"\\\1", part) for part in parts[::2]]
    return f"- `{name}`: {'`'.join(parts)}"


def described(name: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    """Yield the lines on a command: what it does, an example, its arguments and options."""
    formatter = parser._get_formatter()
    example = (parser.epilog or "").removeprefix("example:").strip()
    yield f"\n### {name}\n\n{(parser.description or '').split(chr(10) * 2)[0]}\n"
    yield f"```text\n{example}\n```\n" if example else ""
    for action in parser._actions:
        if action.dest != "help" and action.help not in (None, argparse.SUPPRESS):
            called = formatter._format_action_invocation(action).split(", ")[-1]
            yield bullet(called, formatter._expand_help(action))


def lists() -> dict[str, str]:
    """Return what stands below each heading of the page."""
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
    options = [f"- [{name}](#{name.replace(' ', '-')})" for name in sorted(commands)]
    for name, leaf in sorted(commands.items()):
        options += filter(None, described(name, leaf))
    registered = []
    for kind, names in arena.cli.list._registered(None).items():
        texts: dict[str, list[str]] = {}  # description -> names
        for each, text in names.items():
            texts.setdefault(text, []).append(each)
        lines = (bullet("`, `".join(each), text) for text, each in texts.items())
        registered += [f"### {kind}\n", *lines, ""]
    return {
        "Commands": "\n".join(options),
        "Settings of an environment": "\n".join(
            itertools.starmap(bullet, describe_settings().items())
        ),
        "Registered names": "\n".join(registered),
    }
