"""``arena-corpus download openalex`` and ``arena-corpus download NAME``."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Mapping
from typing import Any

from arena.cli.app import print_json, resumable
from arena.text.display import count
from corpus_builder.cli.build import add_asked, format_bytes, printer
from corpus_builder.collections import collections


def show_works(report: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Say how many works of OpenAlex are here, and what to do next."""
    left_out = "".join(f"; {number:,} {why}" for why, number in report["left_out"].items())
    works, calls = count(report["works"], "work is", "works are"), count(report["calls"], "call")
    print(f"{works} here, {calls} for ${report['dollars']:.4f} made now{left_out}.")
    file = shlex.quote(f"{given['output']}/works.jsonl")
    print(f"Next: arena-corpus build library --papers {file} --output DIR")


def add_collections(group: Any, asked: Collection[str] | None) -> None:
    """Add a command for each collection to ``arena-corpus download``."""
    for name, about in collections().items():
        add_asked(
            group,
            asked,
            name,
            _download,
            summary=f"{about['contains']}.",
            example=f"arena-corpus download {name} --output DIR",
            computed={"name": lambda _, name=name: name},
        )


def _download(
    *,
    name: str,
    output: str,
    mirror: str | None = None,
    leave_out: str | None = None,
    json: bool = False,
) -> None:
    """Fetch a collection; killed at any moment, the same command continues.

    Args:
        output (DIR): A folder for the files, or one to continue.
        mirror (URL): Another server with the same files (default: the environment variable
            ARENA_MIRROR).
        leave_out (PATTERN): Files that are not wanted, such as 'corpus_*'.
    """
    from corpus_builder.download import fetch_published

    about, say = collections()[name], printer(json)
    say(f"{name}: licence {about.get('licence') or 'not said'}, {about['home']}")
    with resumable():
        report = fetch_published(name, output, mirror, leave_out=leave_out or "", on_message=say)
    if json:
        print_json(report)
    unverified = f"; {report['unverified']:,} have no known checksum"
    say(
        f"All files of {name} are here; {report['files']:,} were fetched now "
        f"({format_bytes(report['bytes'])}){unverified if report['unverified'] else ''}. "
        f"Good for {about['good_for']}."
    )
