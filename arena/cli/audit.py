"""``arena audit``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from arena import command_line
from arena.errors import DataError

if TYPE_CHECKING:
    from arena.testing import Report

SUMMARY = "Fuzz every tool and compare every answer with the files: does anything leak?"
EXAMPLE = "arena audit --corpus demo/world"

_SHOWN = 50


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    command_line.add_corpus_argument(parser)
    parser.add_argument(
        "--actions",
        type=int,
        default=10_000,
        metavar="N",
        help="actions to send to the environments (default: 10000)",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="default: 0")
    parser.add_argument(
        "--retriever",
        action="append",
        metavar="NAME",
        help="an engine to search with; may be repeated, and the first one named is the "
        "environments' own (default: bm25)",
    )
    parser.add_argument("--output", metavar="FILE", help="write the report as JSON, too")


def execute(arguments: argparse.Namespace) -> None:
    """Print the report.

    Raises:
        SystemExit: with status 1, if there is a finding.
    """
    from arena._internal.files import write_json
    from arena.testing import audit

    retrievers = arguments.retriever or ["bm25"]
    output = None if arguments.output is None else Path(arguments.output)
    if output is not None and (output.is_dir() or not output.absolute().parent.is_dir()):
        raise DataError(f"--output {str(output)!r}: name a file in a directory that exists.")
    report = audit(arguments.corpus, arguments.actions, arguments.seed, retrievers)
    if output is not None:
        write_json(output, report.to_json())
    if arguments.json:
        command_line.print_json(report.to_json())
    else:
        _print(report)
    if not report.clean:
        raise SystemExit(1)


def _print(report: Report) -> None:
    rows: list[tuple[str, str]] = [(name, f"{number:,}") for name, number in report.counts.items()]
    for title, counted in (
        ("tools", report.tools),
        ("views", report.doors),
        ("refused", report.refused),
        ("environments", report.environments),
    ):
        parts = [f"{name} {number:,}" for name, number in counted.items()]
        rows += [(title if not i else "", part) for i, part in enumerate(parts)]
    rows += [(f"sha256 of {name}", value) for name, value in report.hashes.items()]
    if missing := report.settings["scores_not_compared"]:
        rows.append(("scores not compared", ", ".join(missing)))
    rows.append(("seconds", f"{report.seconds:.1f}"))
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:<{width}}  {value}")
    for finding in report.findings[:_SHOWN]:
        print(f"LEAK {command_line.printable(str(finding), 1_000)}")
    total = sum(report.by_check.values())
    if total > _SHOWN:
        print(f"... and {total - _SHOWN} more; --output FILE keeps the first 1,000.")
    found = ", ".join(f"{name} {number}" for name, number in report.by_check.items())
    print(f"{total} findings: {found}." if total else "Nothing leaked: no findings.")
