"""``arena bench``: retrieval, env, core, report."""

from __future__ import annotations

import argparse

from arena.cli import _bench_core, _bench_env, _bench_report, _bench_retrieval
from arena.command_line import add_command
from arena.command_line import add_group as add_commands

SUMMARY = "Measure search engines, environment steps and runs; print what was measured."


def add_group(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``bench`` with a command for each thing to do."""
    parser = commands.add_parser("bench", help=SUMMARY, description=SUMMARY, allow_abbrev=False)
    group = add_commands(parser, "WHAT")
    add_command(group, "retrieval", _bench_retrieval)
    add_command(group, "env", _bench_env)
    add_command(group, "core", _bench_core)
    add_command(group, "report", _bench_report)
