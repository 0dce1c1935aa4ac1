"""The command ``arena``."""

from __future__ import annotations

from collections.abc import Sequence

from arena.cli import results
from arena.cli.app import Command, Parser, add_command, add_group, command_line, main_command
from arena.cli.board import board, verify
from arena.cli.cite import cite
from arena.cli.commands import commands_of
from arena.cli.list import list_names, plugins
from arena.cli.run import rescore, run, score
from arena.cli.search import search
from arena.cli.testing import audit
from arena.cli.view import show, view
from arena.serving import INTEGRATIONS

_COMMANDS: dict[str, Command] = {
    "search": search, "run": run, "score": score, "rescore": rescore,
    "compare": results.compare, "verify": verify, "board": board, "show": show,
    "view": view, "list": list_names, "audit": audit, "plugins": plugins,
    "cite": cite,
}  # fmt: skip
_SECTIONS = {
    "look at a corpus": ("search", "list", "profile"),
    "run agents": ("run", "experiment", "train", "serve"),
    "score and compare": ("compare", "score", "rescore", "evaluate", "judge", "mindmap", "report"),
    "see what happened": ("view", "show", "credit", "export"),
    "check": ("verify", "reproduce", "board", "audit", "report-card", "plugins"),
    "write about it": ("cite",),
}
"""Aims of people -> the commands for them, for the help."""
_GROUPS: dict[str, tuple[str, str, str]] = {
    "mindmap": (
        "Show mind-maps as text and pictures, and score them against the survey's own.",
        "WHAT",
        "arena mindmap show map.json --output map.svg",
    ),
    "judge": (
        "Let a language model score mind-maps and statements, and compare it with people.",
        "WHAT",
        "arena judge agreement sheet.key.json --human anna.csv",
    ),
    "export": (
        "Write a run, or what is asked for, as a file for other programs.",
        "FORMAT",
        "arena export inspect runs/title --corpus demo/synthetic --output logs/title.eval",
    ),
    "train": (
        "Train what agents use on the tasks of a corpus.",
        "WHAT",
        "arena train ranker --corpus demo/synthetic --tasks demo/tasks --output ranker.json",
    ),
    "serve": (
        "Serve a corpus to agents and trainers of other frameworks.",
        "INTEGRATION",
        "arena serve retrieve --corpus demo/synthetic --before 2015-01-01",
    ),
}
"""Summary, word for the command, and example of the groups whose commands are plug-ins."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    return main_command("arena", make_parser, argv, {"serve": "integration", "evaluate": "suite"})


def make_parser(words: Sequence[str] = ()) -> Parser:
    """Return the parser of the whole command line.

    What suites and integrations add is there if the first word is ``evaluate`` or ``serve``.
    """
    asked = words[0] if words else ""
    parser, commands = command_line(
        "arena",
        "A gym for research agents: search a dated corpus, run agents on survey tasks, score them.",
        "arena run --corpus demo/synthetic --task discovery --agent title --output runs/title",
    )
    for name, function in _COMMANDS.items():
        add_command(commands, name, function)
    added = commands_of("arena")
    for name, (summary, metavar, example) in _GROUPS.items():
        functions = added.pop(name, {})
        if name == asked == "serve":
            functions |= {each: INTEGRATIONS.get(each) for each in INTEGRATIONS.names()}
        if functions or name == "serve":
            group = add_group(commands, name, summary, metavar, example)
            for inner, function in functions.items():
                add_command(group, inner, function)
    results.add_evaluate(commands, asked == "evaluate")
    parser.sections = _SECTIONS
    for name, function in added.pop("", {}).items():
        add_command(commands, name, function)
    return parser
