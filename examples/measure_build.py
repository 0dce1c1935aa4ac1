"""Measure a build of a simulated release, and whether kills change its result.

    python examples/measure_build.py --papers 1000000 --output measured --memory 2GB --workers 2 \
        --kills 20 --json measured.json

The release is written to OUTPUT/release if none is there. The first build runs to its end, watched;
the second, with another number of workers, is killed with SIGKILL at random moments (all its
processes, or every fourth time the first one alone) and started again, until it is complete. Every
file of both must be the same. Linux only.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from arena._internal.files import write_json
from corpus_builder.bench import (
    Command,
    build_killed,
    build_once,
    differences,
    moments,
    show,
    summary,
    tell_kill,
)


def main() -> int:
    """Measure; return 1 if the two builds differ."""
    arguments = _arguments()
    place = Path(arguments.output).resolve()
    place.mkdir(parents=True, exist_ok=True)
    told: dict[str, Any] = {}
    release = Path(arguments.release).resolve() if arguments.release else place / "release"
    if not release.exists():
        told["simulated"] = _simulate(arguments, release)
    options = tuple(arguments.option or ())
    whole = Command(release, place / "whole", arguments.memory, arguments.workers, options)
    built = build_once(whole)
    told["whole"] = summary(whole, built)
    print(show(told["whole"]), flush=True)
    same = True
    if arguments.kills:
        workers = arguments.other_workers or arguments.workers + 1
        broken = Command(release, place / "killed", arguments.memory, workers, options)
        when = moments(built.stages, arguments.kills, arguments.seed)
        again, kills = build_killed(broken, when, lambda kill: print(tell_kill(kill), flush=True))
        differ = differences(built, again)
        same = not differ and built.status == again.status
        told["killed"] = {
            "workers": workers,
            "seed": arguments.seed,
            "kills": [{**kill._asdict(), "moment": kill.moment._asdict()} for kill in kills],
            "status": again.status,
            "error": again.error,
            "files": len(again.hashes),
            "differ": differ,
            "same": same,
        }
        print(
            f"{len(kills)} of {len(when)} kills, {workers} instead of {arguments.workers} workers: "
            f"{len(again.hashes)} files, {len(differ)} of them differ"
        )
        if again.error:
            print(again.error)
        for name in differ[:10]:
            print(f"differs: {name}")
        if not arguments.keep:
            broken.clear()
    if arguments.json:
        write_json(arguments.json, told)
    return 0 if same else 1


def _simulate(arguments: argparse.Namespace, release: Path) -> dict[str, Any]:
    from corpus_builder.bench import Watched

    options = {"papers": arguments.papers, "surveys": arguments.surveys, "shards": arguments.shards,
               "full-text": arguments.full_text, "output": release}  # fmt: skip
    pairs = [part for name, value in options.items() for part in (f"--{name}", str(value))]
    line = [sys.executable, "-m", "corpus_builder.cli", "simulate", "s2orc", *pairs]
    started = time.monotonic()
    building = release.with_name(f".{release.name}.simulating")
    watched = Watched(line, (release, building), lambda _, text: print(text, flush=True))
    if watched.wait():
        shutil.rmtree(building, ignore_errors=True)
        raise SystemExit(watched.errors.strip() or "the release could not be written")
    return {"seconds": round(time.monotonic() - started, 3), **watched.peak}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", required=True, metavar="DIR", help="for all that is written")
    parser.add_argument("--release", metavar="DIR", help="a release that is there already")
    parser.add_argument("--papers", type=int, default=100_000, metavar="N")
    parser.add_argument("--surveys", type=int, default=200, metavar="N")
    parser.add_argument("--shards", type=int, default=16, metavar="N")
    parser.add_argument("--full-text", type=float, default=0.15, metavar="SHARE")
    parser.add_argument("--memory", default="2GB", metavar="SIZE")
    parser.add_argument("--workers", type=int, default=2, metavar="N")
    parser.add_argument("--other-workers", type=int, metavar="N", help="of the killed build")
    parser.add_argument("--kills", type=int, default=20, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of the moments")
    parser.add_argument("--keep", action="store_true", help="keep the build that was killed")
    parser.add_argument(
        "--option", action="append", help="of `arena-corpus build s2orc`, such as --option=--stage"
    )
    parser.add_argument("--json", metavar="FILE", help="write all figures")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
