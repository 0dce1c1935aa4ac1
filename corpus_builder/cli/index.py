"""``arena-corpus index``."""

from __future__ import annotations

import argparse
import time
from contextlib import closing
from typing import Any

from arena import command_line
from arena.corpus import indexes
from arena.errors import DataError

SUMMARY = "Add an index to a built corpus; the index appears whole or not at all."
EXAMPLE = "arena-corpus index demo/world --engine bm25 --name titles --fields title"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("directory", metavar="DIR", help="a built corpus")
    parser.add_argument(
        "--engine", required=True, metavar="NAME", help="see `arena list retrievers`"
    )
    parser.add_argument(
        "--name", metavar="NAME", help="what the index is called (default: like its engine)"
    )
    parser.add_argument(
        "--fields",
        metavar="NAMES",
        help="what is indexed, of title,abstract,fulltext (default: as the corpus was built)",
    )
    parser.add_argument(
        "--encoder", metavar="NAME", help="--option encoder=NAME; see `arena list encoders`"
    )
    parser.add_argument(
        "--option",
        action="append",
        metavar="NAME=VALUE",
        help="an option of the engine for building; may be repeated",
    )
    parser.add_argument(
        "--executor",
        default="local",
        metavar="NAME",
        help="what runs the encoding of vectors: local or ray (default: local)",
    )
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes that encode (default: 1; with ray one a processor of the cluster)",
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace an index of that name once this is built"
    )


def execute(arguments: argparse.Namespace) -> None:
    """Build the index and say what it is."""
    from corpus_builder.executors import make_executor
    from corpus_builder.index import build_index

    started = time.monotonic()
    with closing(make_executor(arguments.executor, arguments.workers)) as executor:
        manifest = build_index(
            arguments.directory,
            arguments.engine,
            name=arguments.name,
            fields=command_line.parse_names(arguments.fields),
            options=_options(arguments),
            overwrite=arguments.overwrite,
            executor=executor,
        )
    if arguments.json:
        command_line.print_json(manifest)
        return
    size = sum(entry["bytes"] for entry in manifest["files"].values())
    print(f"index   {indexes.describe_index(manifest['name'], manifest)}")
    print(f"size    {size / 1e6:,.1f} MB")
    print(f"built in {time.monotonic() - started:.1f} s")


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    options = command_line.parse_options("--option", arguments.option)
    if arguments.encoder is not None:
        if options.get("encoder", arguments.encoder) != arguments.encoder:
            raise DataError("--encoder and --option encoder=... differ. Give one of them.")
        options["encoder"] = arguments.encoder
    return options
