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
            execute=partial(_execute, source=source, name=name),
        )
        command_line.add_command(sources, name, command)


def _add_arguments(parser: argparse.ArgumentParser, source: Any) -> None:
    source.add_arguments(parser)
    parser.add_argument("--output", required=True, metavar="DIR", help="a new directory")
    if _is_release(source):
        _add_stage_arguments(parser)
        return
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


def _is_release(source: Any) -> bool:
    from corpus_builder.release import Release

    return issubclass(source, Release)


def _add_stage_arguments(parser: argparse.ArgumentParser) -> None:
    from corpus_builder.cli._stages import NAMES

    parser.add_argument("--config", metavar="FILE", help="of the stages, as configs/s2orc.yaml")
    parser.add_argument(
        "--set",
        action="append",
        metavar="KEY=VALUE",
        help="change the configuration, such as surveys.judge=llm; may be repeated",
    )
    parser.add_argument(
        "--stage",
        metavar="NAME",
        help=f"run this stage only: {', '.join(NAMES)}",
    )
    parser.add_argument(
        "--memory", default="4GB", metavar="SIZE", help="for all processes (default: 4GB)"
    )
    parser.add_argument(
        "--workers", type=int, metavar="N", help="processes (default: one a processor)"
    )
    parser.add_argument(
        "--engine", default="local", metavar="NAME", help="what runs the tasks: local or ray"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace a corpus in DIR")


def _execute_stages(arguments: argparse.Namespace, source: Any, name: str) -> None:
    from pathlib import Path

    from arena.corpus import layout
    from corpus_builder.cli._stages import told
    from corpus_builder.stages import plan, read_config, run_stages

    started = time.monotonic()
    config = read_config(arguments.config, command_line.parse_options("--set", arguments.set))
    build = plan(
        name,
        source.from_arguments(arguments),
        arguments.output,
        config,
        memory=command_line.parse_size("--memory", arguments.memory),
        workers=arguments.workers,
        engine=arguments.engine,
        overwrite=arguments.overwrite,
    )

    def say(what: str) -> None:
        if not arguments.json:
            print(f"{time.monotonic() - started:8.1f} s  {what}", flush=True)

    def tell(stage: str, report: dict[str, Any], now: bool) -> None:
        say(f"{stage} is done" if now else f"{stage} was done before")
        for line in told(stage, report):
            if not arguments.json:
                print(f"{'':12}{command_line.printable(line, 1000)}", flush=True)

    reports = run_stages(build, arguments.stage, tell, lambda stage: say(f"{stage} begins"))
    if arguments.json:
        command_line.print_json(reports)
    elif arguments.stage in (None, "index", "card"):
        print_card(layout.read_manifest(Path(arguments.output)), arguments.output)


def _execute(arguments: argparse.Namespace, source: Any, name: str) -> None:
    from corpus_builder.build import build

    if _is_release(source):
        _execute_stages(arguments, source, name)
        return
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
