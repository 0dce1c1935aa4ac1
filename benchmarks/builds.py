"""Measure a build of a release: time of each stage, memory of all processes, disk."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from arena.corpus.layout import read_manifest
from arena.errors import DataError
from benchmarks import simulate
from benchmarks.report import Results, size_of, table
from corpus_builder.world import WorldConfig

_INTERVAL = 0.2  # seconds between two looks at the memory
_DONE = re.compile(r"^\s*([\d.]+) s  (\S+) (?:is done|was done before)", re.MULTILINE)


def measure(
    *,
    world: WorldConfig,
    output: str,
    input: str | None = None,
    memory: str = "2GB",
    workers: int | None = None,
    shards: int = 16,
    option: list[str] | None = None,
) -> Results:
    """Build a simulated release in a process of its own, and watch it.

    Args:
        world: World that the release is made of, if it has to be written.
        output (DIR): A new directory, for the corpus and the release.
        input (DIR): A release that is there already.
        memory (SIZE): Memory of all processes, as arena-corpus build takes it.
        workers: Processes (default: one a processor).
        shards: Files of each dataset of the release.
        option: Option of arena-corpus build s2orc.

    Returns:
        ``papers``, ``seconds``, ``cpu``, ``stages`` (name -> seconds), ``pss`` and ``processes``,
        the most memory in bytes and processes at one look, and ``disk``, bytes at the end.
    """
    corpus = Path(output).resolve() / "corpus"
    release = Path(input) if input else corpus.with_name("release")
    if not release.exists():
        simulate.measure(world=world, output=str(release), shards=shards)
    if corpus.exists():
        raise DataError(f"{str(corpus)!r} exists already. Name another directory.")
    command = [sys.executable, "-m", "corpus_builder.cli", "build", "s2orc",
               "--input", str(release), "--output", str(corpus), "--memory", memory,
               *(["--workers", str(workers)] if workers else []), *(option or ())]  # fmt: skip
    pss = processes = 0
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace"
    )
    while True:
        try:
            said, errors = process.communicate(timeout=_INTERVAL)
            break
        except subprocess.TimeoutExpired:
            now = memory_of(process.pid)
            pss, processes = max(pss, now[0]), max(processes, now[1])
    seconds = time.monotonic() - started
    if process.returncode:
        why = errors.strip().splitlines()[-1:]
        raise DataError(f"the build fails with status {process.returncode}: {''.join(why)}")
    done = [("", 0.0), *((name, float(at)) for at, name in _DONE.findall(said))]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "papers": read_manifest(corpus)["counts"]["papers"],
        "seconds": seconds,
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "stages": {name: at - last for (_, last), (name, at) in pairwise(done)},
        "pss": pss,
        "processes": processes,
        "disk": size_of(corpus, corpus.with_name("corpus.stages")),
    }


def memory_of(pid: int) -> tuple[int, int]:
    """Return the memory (PSS: shared pages count once) and number of a process and descendants."""
    import psutil

    pss = count = 0
    with suppress(psutil.Error):
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            with suppress(psutil.Error):
                used = process.memory_full_info()
                pss, count = pss + getattr(used, "pss", used.rss), count + 1
    return pss, count


def show(results: Results) -> str:
    """Return tables of what `measure` returned."""
    rows = [*results["stages"].items(), ("all", results["seconds"])]
    # The build prints its times to a tenth of a second.
    rates = [
        (name, took, f"{results['papers'] / took:,.0f}" if took >= 0.1 else "")
        for name, took in rows
    ]
    title = f"{results['papers']:,} papers; {results['machine']}"
    return (
        f"{table(title, ('stage', 'seconds', 'papers/s'), rates)}\n\n{results['cpu']:.1f} CPU "
        f"seconds; at most {results['processes']} processes with {results['pss'] / 1e6:,.0f} MB; "
        f"{results['disk'] / 1e6:,.0f} MB on disk"
    )
