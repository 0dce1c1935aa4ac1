"""``arena-corpus download SOURCE``."""

from __future__ import annotations

import argparse
from types import SimpleNamespace
from typing import Any

from arena import command_line


def add_group(commands: Any) -> None:
    """Add ``download`` with one command for each source that can be fetched."""
    parser = commands.add_parser(
        "download",
        help="Fetch the files of a release; killed at any moment, the same command goes on.",
        allow_abbrev=False,
    )
    sources = command_line.add_group(parser, "SOURCE")
    command = SimpleNamespace(
        SUMMARY="Datasets of a release of Semantic Scholar, through its Datasets API.",
        EXAMPLE="arena-corpus download s2orc --release latest --output DIR",
        add_arguments=_add_arguments,
        execute=_execute,
    )
    command_line.add_command(sources, "s2orc", command)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    from corpus_builder.download import DATASETS, Options

    default = Options()
    parser.add_argument("--output", required=True, metavar="DIR", help="a new directory, or one "
                        "to go on with")  # fmt: skip
    parser.add_argument(
        "--release", default="latest", metavar="ID", help="such as 2024-02-06 (default: latest)"
    )
    parser.add_argument(
        "--datasets",
        default=",".join(DATASETS),
        metavar="NAMES",
        help=f"with commas (default: {','.join(DATASETS)})",
    )
    parser.add_argument("--dry-run", action="store_true", help="only say how much it is")
    parser.add_argument(
        "--verify", action="store_true", help="read files that are complete again, and compare"
    )
    numbers: list[tuple[str, type, float, str, str]] = [
        ("--parallel", int, default.parallel, "N", "files at once"),
        ("--rate", float, default.rate, "X", "requests a second to the API at most"),
        ("--attempts", int, default.attempts, "N", "for a file, in a row without a byte"),
        ("--patience", float, default.patience, "SECONDS", "without a byte before trying again"),
    ]
    for name, kind, value, metavar, text in numbers:
        parser.add_argument(
            name, type=kind, default=value, metavar=metavar, help=f"{text} (default: {value:g})"
        )
    parser.add_argument(
        "--key-env",
        default=default.key_env,
        metavar="NAME",
        help=f"environment variable with the key (default: {default.key_env})",
    )
    parser.add_argument(
        "--base-url", default=default.base_url, metavar="URL", help="of another server"
    )


def _execute(arguments: argparse.Namespace) -> None:
    from corpus_builder.download import Options, download

    options = Options(
        arguments.parallel,
        arguments.key_env,
        arguments.base_url,
        arguments.rate,
        arguments.attempts,
        arguments.patience,
        arguments.verify,
    )
    silent = arguments.json
    try:
        report = download(
            arguments.output,
            arguments.release,
            command_line.parse_names(arguments.datasets) or (),
            options,
            dry_run=arguments.dry_run,
            on_estimate=(lambda _: None) if silent else _print_estimate,
            on_message=(lambda _: None) if silent else _print,
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt("The same command goes on from here.") from None
    if arguments.json:
        command_line.print_json(report)
    elif not arguments.dry_run:
        from corpus_builder.download import format_bytes

        files = sum(dataset["files"] for dataset in report["datasets"].values())
        fetched = report["fetched"]
        print(
            f"All {files:,} files are complete; {fetched['files']:,} were fetched now "
            f"({format_bytes(fetched['bytes'])})."
        )


def _print(line: str) -> None:
    """Print a line above the bar, if there is one."""
    from tqdm import tqdm

    tqdm.write(command_line.printable(line, 1000))


def _print_estimate(estimate: Any) -> None:
    from corpus_builder.download import format_bytes as size

    print(f"release {estimate.release}")
    rows = [(name, f"{files:,}", size(count)) for name, (files, count) in estimate.datasets.items()]
    command_line.print_table(rows, ("dataset", "files", "size"))
    verdict = "" if estimate.needed_bytes <= estimate.free_bytes else ": TOO LITTLE"
    print(
        f"{size(estimate.here_bytes)} are here, {size(estimate.needed_bytes)} are to be fetched, "
        f"{size(estimate.free_bytes)} are free on the disk{verdict}.",
        flush=True,
    )
