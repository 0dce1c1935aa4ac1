"""``python -m benchmarks``: time engines, environments and builds; simulate releases; fit."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tabulate import tabulate

from arena._internal.cores import cores
from arena._internal.files import write_json
from arena.errors import ArenaError, DataError, clip
from benchmarks import builds, doors, environments, many, organizer, search, simulate
from benchmarks.engines import ENGINES
from corpus_builder.world import WorldConfig

EPILOG = """examples:
  python -m benchmarks search --docs 100000
  python -m benchmarks env --corpus demo/world --num-envs 64
  python -m benchmarks simulate --papers 3000 --shards 4 --output release
  python -m benchmarks build --papers 1000000 --output measured --memory 2GB"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a benchmark; return the exit status: 2 for bad input, 130 after Ctrl-C."""
    options = _parser().parse_args(arguments)
    try:
        results = options.run(options)
        if options.json:
            write_json(options.json, results)
    except (ArenaError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    formatter = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        "python -m benchmarks", description=__doc__, epilog=EPILOG, formatter_class=formatter
    )
    commands = parser.add_subparsers(required=True, metavar="WHAT")

    def command(
        name: str, run: Callable[[Any], dict[str, Any]], text: str
    ) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=text, description=text)
        added.set_defaults(run=run)
        added.add_argument("--json", metavar="FILE", help="write all figures as JSON")
        return added

    added = command("search", _search, "Time search engines side by side; compare their hits.")
    added.add_argument("--corpus", help="take the papers of a built corpus, not made-up ones")
    added.add_argument("--engines", help="names, with commas (default: all)")
    added.add_argument("--cutoffs", default="1,10,50,100", help="percents before the cutoff")
    _add_settings(added, search.SearchSettings(threads=cores())._asdict())

    added = command("env", _environments, "Time steps of environments, searches, and whole runs.")
    added.add_argument("--corpus", required=True, help="directory of a built corpus")
    _add_settings(added, environments.StepSettings()._asdict())

    added = command("doors", _doors, "Time /retrieve beside the searches behind it.")
    added.add_argument("--corpus", required=True, help="directory of a built corpus")
    _add_settings(added, doors.DoorSettings()._asdict())

    added = command("sessions", _sessions, "Time many episodes at once, also through doors.")
    added.add_argument("--corpus", required=True, help="directory of a built corpus")
    _add_settings(added, many.ManySettings()._asdict())

    text = "Write a literature world as Semantic Scholar's files."
    added = command("simulate", _simulate, text)
    _add_release(added)
    added.add_argument("--overwrite", action="store_true", help="replace a release in OUTPUT")

    added = command("build", _build, "Measure the build of a simulated release.")
    _add_release(added)
    added.add_argument("--input", metavar="DIR", help="a release that is there already")
    added.add_argument("--memory", default="2GB", help="as arena-corpus build takes it")
    added.add_argument("--option", action="append", default=[], help="of arena-corpus build s2orc")

    added = command("organizer", _organizer, "Fit and test the agent organizer on real surveys.")
    added.add_argument("--data", required=True, help="directory of surveys, see the docs")
    added.add_argument("--encoder", default="minilm", help="default: %(default)s")
    return parser


def _add_settings(parser: argparse.ArgumentParser, defaults: dict[str, Any]) -> None:
    for name, default in defaults.items():
        option, text = f"--{name.replace('_', '-')}", "default: %(default)s"
        parser.add_argument(option, type=type(default), default=default, help=text)


def _add_release(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", required=True, help="a new directory")
    parser.add_argument("--workers", type=int, default=cores(), help="processes")
    _add_settings(parser, simulate.ReleaseSettings()._asdict())
    for field in dataclasses.fields(WorldConfig):
        option = f"--{field.name.replace('_', '-')}"
        parser.add_argument(option, type=type(field.default), help="of the world")


def _settings(kind: Any, options: Any) -> Any:
    return kind(**{name: getattr(options, name) for name in kind._fields})


def _search(options: Any) -> dict[str, Any]:
    names = [name.strip() for name in (options.engines or "").split(",") if name.strip()]
    try:
        cutoffs = [float(part) for part in options.cutoffs.split(",")]
    except ValueError:
        raise DataError(f"--cutoffs {clip(options.cutoffs)}: give numbers with commas.") from None
    results = search.measure(
        _settings(search.SearchSettings, options),
        names or list(ENGINES),
        cutoffs,
        options.corpus and Path(options.corpus),
        partial(print, file=sys.stderr, flush=True),
    )
    print(search.show(results))
    return results


def _environments(options: Any) -> dict[str, Any]:
    settings = _settings(environments.StepSettings, options)
    results = environments.measure(options.corpus, settings)
    print(environments.show(results))
    return results


def _doors(options: Any) -> dict[str, Any]:
    results = doors.measure(options.corpus, _settings(doors.DoorSettings, options))
    print(doors.show(results))
    return results


def _sessions(options: Any) -> dict[str, Any]:
    results = many.measure(options.corpus, _settings(many.ManySettings, options))
    print(many.show(results))
    return results


def _organizer(options: Any) -> dict[str, Any]:
    results = organizer.measure(Path(options.data), options.encoder)
    print(organizer.show(results))
    return results


def _simulate(options: Any) -> dict[str, Any]:
    started = time.monotonic()
    written = simulate.simulate(
        _world(options),
        options.output,
        _settings(simulate.ReleaseSettings, options),
        workers=options.workers,
        overwrite=getattr(options, "overwrite", False),
    )
    rows = [
        (name, of["shards"], f"{of['lines']:,}", f"{of['bytes'] / 1e6:,.1f}")
        for name, of in written["datasets"].items()
    ]
    print(tabulate(rows, headers=("dataset", "shards", "lines", "MB")))
    for kind, count in written["bad"].items():
        print(f"bad   {kind}: {count:,}")
    print(f"written in {time.monotonic() - started:.1f} s")
    return written


def _world(options: Any) -> WorldConfig:
    knobs = {field.name: getattr(options, field.name) for field in dataclasses.fields(WorldConfig)}
    knobs = {name: value for name, value in knobs.items() if value is not None}
    if "surveys" not in knobs and "papers" in knobs:  # as `arena-corpus build world` chooses
        knobs["surveys"] = min(WorldConfig.surveys, knobs["papers"] // 10)
    return WorldConfig(**knobs)


def _build(options: Any) -> dict[str, Any]:
    place = Path(options.output).resolve()
    release = Path(options.input).resolve() if options.input else place / "release"
    if not release.exists():
        options.output = release
        _simulate(options)
    results = builds.measure(
        release, place / "corpus", options.memory, options.workers, options.option
    )
    print(builds.show(results))
    return results


if __name__ == "__main__":
    sys.exit(main())
