"""``arena-corpus simulate s2orc``."""

from __future__ import annotations

import argparse
import time
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from arena import command_line

if TYPE_CHECKING:
    from corpus_builder.world import WorldConfig

_SUMMARY = "Write a literature world as a release of Semantic Scholar's datasets."


def add_group(commands: Any) -> None:
    """Add ``simulate`` with one command for each format."""
    parser = commands.add_parser(
        "simulate",
        help="Write a made-up field of science as the files of a release.",
        allow_abbrev=False,
    )
    formats = command_line.add_group(parser, "FORMAT")
    command = SimpleNamespace(
        SUMMARY=_SUMMARY,
        EXAMPLE="arena-corpus simulate s2orc --papers 3000 --shards 4 --output DIR",
        add_arguments=_add_arguments,
        execute=_execute,
    )
    command_line.add_command(formats, "s2orc", command)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    from corpus_builder.simulate import Settings
    from corpus_builder.sources.world import WorldSource

    default = Settings()
    parser.add_argument("--output", required=True, metavar="DIR", help="a new directory")
    parser.add_argument(
        "--release",
        default=default.release,
        metavar="DAY",
        help=f"name of the release (default: {default.release})",
    )
    parser.add_argument(
        "--shards",
        type=int,
        default=default.shards,
        metavar="N",
        help=f"files of each dataset (default: {default.shards})",
    )
    for name, text in (
        ("full_text", "share of papers with full text, surveys aside"),
        ("survey_full_text", "share of survey papers with full text"),
        ("bad", "bad records for every good one"),
    ):
        value = getattr(default, name)
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            type=float,
            default=value,
            metavar="SHARE",
            help=f"{text} (default: {value:g})",
        )
    parser.add_argument(
        "--text-version",
        default=default.text_version,
        metavar="NAME",
        help="of the full texts: v1, as s2orc, or v2, as s2orc_v2 (default: v1)",
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes (default: one a processor)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a release in DIR")
    WorldSource.add_arguments(parser)


def _read_knobs(arguments: argparse.Namespace) -> WorldConfig:
    """Return the knobs that ``build world`` would take from these options."""
    from corpus_builder.sources.world import WorldSource

    class Knobs(WorldSource):
        def __init__(self, config: WorldConfig) -> None:
            self.config = config  # and no world: the processes that write make theirs

    knobs = Knobs.from_arguments(arguments)
    assert isinstance(knobs, Knobs)
    return knobs.config


def _execute(arguments: argparse.Namespace) -> None:
    from corpus_builder.simulate import Settings, simulate

    started = time.monotonic()
    settings = Settings(**{name: getattr(arguments, name) for name in Settings._fields})
    report = simulate(
        _read_knobs(arguments),
        arguments.output,
        settings,
        workers=arguments.workers,
        overwrite=arguments.overwrite,
    )
    if arguments.json:
        command_line.print_json(report)
        return
    rows = [
        (name, told["shards"], f"{told['lines']:,}", f"{told['bytes'] / 1e6:,.1f}")
        for name, told in report["datasets"].items()
    ]
    command_line.print_table(rows, ["dataset", "shards", "lines", "MB"])
    for kind, count in report["bad"].items():
        print(f"bad   {kind}: {count:,}")
    print(f"written in {time.monotonic() - started:.1f} s")
