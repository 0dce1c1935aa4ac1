"""``python -m benchmarks``: time engines, environments, runs and builds; simulate releases."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tabulate import tabulate

from arena._internal.cores import cores
from arena._internal.files import write_json
from arena.errors import ArenaError, DataError, clip
from benchmarks import builds, core, environments, report, retrieval, simulate
from benchmarks.collection import searchable
from benchmarks.engines import ordered_names
from corpus_builder.world import WorldConfig

EPILOG = """examples:
  python -m benchmarks retrieval --docs 100000,1000000 --output bench
  python -m benchmarks env --corpus demo/world --num-envs 64
  python -m benchmarks core --corpus demo/world
  python -m benchmarks simulate --papers 3000 --shards 4 --output release
  python -m benchmarks build --papers 1000000 --output measured --memory 2GB --kills 20"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a benchmark; return the exit status: 2 for bad input, 130 after Ctrl-C."""
    given = _parser().parse_args(arguments)
    try:
        results = given.run(given)
        if given.json:
            write_json(given.json, results)
    except (ArenaError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; the same command goes on with what is not done", file=sys.stderr)
        return 130
    return int(bool(results.get("killed", {}).get("differ")))


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

    added = command("retrieval", _retrieval, "Time search engines; each must pass a check first.")
    added.add_argument("--docs", help="sizes, with commas (default: 100000; of a corpus: all)")
    added.add_argument("--corpus", help="take the papers of a built corpus, not made-up ones")
    added.add_argument("--output", required=True, help="directory for the results")
    added.add_argument("--engines", help="names, with commas (default: all)")
    added.add_argument("--cutoffs", default="1,10,50,100", help="percent before the cutoff")
    added.add_argument("--threads", type=int, default=cores(), help="threads of a batch")
    added.add_argument("--overwrite", action="store_true", help="start anew in OUTPUT")
    _numbers_of(
        added, retrieval.SearchSettings, ("queries", "k", "repeats", "batch", "seed", "warm")
    )

    added = command("env", _environments, "Time steps of environments, and the search alone.")
    added.add_argument("--corpus", required=True, help="directory of a built corpus")
    added.add_argument("--retriever", default="bm25", help="search engine (default: bm25)")
    _numbers_of(added, environments.StepSettings, ("num_envs", "steps", "rounds", "k", "seed"))

    added = command("core", _core, "Time dated searches and whole runs on a corpus.")
    added.add_argument("--corpus", required=True, help="directory of a built corpus")
    added.add_argument("--rounds", type=int, default=5, help="times that each is timed")

    added = command("simulate", _simulate, "Write a literature world as Semantic Scholar's files.")
    _release_options(added)
    added.add_argument("--overwrite", action="store_true", help="replace a release in OUTPUT")

    added = command("build", _build, "Measure the build of a simulated release, with kills.")
    _release_options(added)
    added.add_argument("--input", metavar="DIR", help="a release that is there already")
    added.add_argument("--memory", default="2GB", help="as arena-corpus build takes it")
    added.add_argument("--other-workers", type=int, help="workers of the build that is killed")
    added.add_argument("--kills", type=int, default=20, help="0 for one build alone")
    added.add_argument("--kill-seed", type=int, default=1, help="of the moments of the kills")
    added.add_argument("--keep", action="store_true", help="keep the build that was killed")
    added.add_argument("--option", action="append", default=[], help="of arena-corpus build s2orc")
    return parser


def _numbers_of(parser: argparse.ArgumentParser, kind: Any, names: Sequence[str]) -> None:
    for name in names:
        default = kind._field_defaults[name]
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(
            option, type=type(default), default=default, help="default: %(default)s"
        )


def _release_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", required=True, help="a new directory")
    parser.add_argument("--workers", type=int, default=cores(), help="processes")
    names = ("release", "shards", "full_text", "survey_full_text", "bad", "text_version")
    _numbers_of(parser, simulate.ReleaseSettings, names)
    for field in dataclasses.fields(WorldConfig):
        option = f"--{field.name.replace('_', '-')}"
        parser.add_argument(option, type=type(field.default), help="of the world")


def _retrieval(given: Any) -> dict[str, Any]:
    if given.docs is not None:
        documents = _numbers("--docs", given.docs, int)
    else:
        documents = (searchable(Path(given.corpus)) if given.corpus else 100_000,)
    names = given.engines and [name.strip() for name in given.engines.split(",") if name.strip()]
    settings = retrieval.SearchSettings(
        documents,
        tuple(ordered_names() if names is None else names),
        **{name: getattr(given, name) for name in ("queries", "k", "repeats", "batch", "seed")},
        warm=given.warm,
        threads=given.threads,
        cutoffs=_numbers("--cutoffs", given.cutoffs, float),
        corpus=given.corpus,
    )
    results = retrieval.run(
        settings, Path(given.output), overwrite=given.overwrite,
        report=lambda line: print(line, file=sys.stderr, flush=True),
    )  # fmt: skip
    print(report.page(results))
    print(f"Files in {given.output}")
    return results


def _numbers(option: str, text: str, kind: type[Any]) -> tuple[Any, ...]:
    numbers = []
    for part in text.split(","):
        try:
            numbers.append(kind(part.strip().replace("_", "")))
        except ValueError:
            raise DataError(
                f"{option} {clip(text)}: {clip(part.strip())} is not a number of the kind it "
                "takes. Write numbers with commas."
            ) from None
    return tuple(numbers)


def _environments(given: Any) -> dict[str, Any]:
    fields = environments.StepSettings._fields
    settings = environments.StepSettings(**{name: getattr(given, name) for name in fields})
    results = environments.measure(given.corpus, settings)
    print(environments.show(results))
    return results


def _core(given: Any) -> dict[str, Any]:
    if given.rounds < 1:
        raise DataError(f"--rounds {given.rounds}: give an integer >= 1.")
    rows = core.measure(Path(given.corpus), given.rounds)
    print(tabulate(rows, headers=("what", "median", "unit")))
    return {"rows": rows}


def _simulate(given: Any) -> dict[str, Any]:
    started = time.monotonic()
    given.overwrite = getattr(given, "overwrite", False)
    written = simulate.simulate(
        _world(given),
        given.output,
        simulate.ReleaseSettings(
            **{name: getattr(given, name) for name in simulate.ReleaseSettings._fields}
        ),
        workers=given.workers,
        overwrite=given.overwrite,
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


def _world(given: Any) -> WorldConfig:
    knobs = {field.name: getattr(given, field.name) for field in dataclasses.fields(WorldConfig)}
    knobs = {name: value for name, value in knobs.items() if value is not None}
    if "surveys" not in knobs and "papers" in knobs:  # as `arena-corpus build world` chooses
        knobs["surveys"] = min(WorldConfig.surveys, knobs["papers"] // 10)
    return WorldConfig(**knobs)


def _build(given: Any) -> dict[str, Any]:
    place = Path(given.output).resolve()
    place.mkdir(parents=True, exist_ok=True)
    release = Path(given.input).resolve() if given.input else place / "release"
    if not release.exists():
        given.output = release
        _simulate(given)
    command = builds.Command(
        release, place / "whole", given.memory, given.workers, tuple(given.option)
    )
    others = given.other_workers or given.workers + 1
    return builds.measure(command, given.kills, others, given.kill_seed, given.keep)


if __name__ == "__main__":
    sys.exit(main())
