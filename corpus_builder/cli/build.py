"""``arena-corpus build SOURCE``."""

from __future__ import annotations

import argparse
import time
from functools import partial
from types import SimpleNamespace
from typing import Any

from arena import command_line
from corpus_builder.cli.info import print_card


def add_group(commands: Any) -> None:
    """Add ``build`` with one command for each registered source."""
    from corpus_builder.sources import SOURCES

    parser = commands.add_parser(
        "build",
        help="Build a corpus from a source; the directory appears whole or not at all.",
        allow_abbrev=False,
    )
    sources = command_line.add_group(parser, "SOURCE")
    for name, summary in SOURCES.describe().items():
        source = SOURCES.get(name)
        command = SimpleNamespace(
            SUMMARY=summary,
            EXAMPLE=f"arena-corpus build {name} {source.example} --output DIR",
            add_arguments=partial(_add_arguments, source=source),
            execute=partial(_execute, source=source),
        )
        command_line.add_command(sources, name, command)


def _add_arguments(parser: argparse.ArgumentParser, source: Any) -> None:
    source.add_arguments(parser)
    parser.add_argument("--output", required=True, metavar="DIR", help="a new directory")
    parser.add_argument(
        "--fields",
        default="title,abstract,fulltext",
        metavar="NAMES",
        help="what is indexed (default: title,abstract,fulltext)",
    )
    parser.add_argument(
        "--engines",
        default="bm25",
        metavar="NAMES",
        help="retrievers to index for, with commas (default: bm25)",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a corpus in DIR")


def _execute(arguments: argparse.Namespace, source: Any) -> None:
    from corpus_builder.build import build

    started = time.monotonic()
    manifest = build(
        source.from_arguments(arguments),
        arguments.output,
        engines=command_line.parse_names(arguments.engines) or (),
        fields=command_line.parse_names(arguments.fields) or (),
        overwrite=arguments.overwrite,
    )
    if arguments.json:
        command_line.print_json(manifest)
        return
    print_card(manifest, arguments.output)
    print(f"built in {time.monotonic() - started:.1f} s")
