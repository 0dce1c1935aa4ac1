"""Measure a build of a release: time of each stage, memory of all processes, disk."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from arena.corpus.layout import read_manifest
from arena.errors import DataError
from benchmarks.report import machine, table

_INTERVAL = 0.2  # seconds between two looks at the memory
_DONE = re.compile(r"\s*[\d.]+ s  (\S+) (?:is done|was done before)")


def measure(
    release: Path, output: Path, memory: str, workers: int, options: Sequence[str] = ()
) -> dict[str, Any]:
    """Build a release in a process of its own, and watch it.

    Args:
        release: Folder of the release.
        output: Directory of the corpus, which must not exist.
        memory: Memory as ``arena-corpus build`` takes it.
        workers: Number of processes.
        options: Further options of ``arena-corpus build s2orc``.

    Returns:
        ``machine``, ``papers``, ``seconds``, ``cpu``, ``stages`` (name -> seconds), ``pss`` and
        ``processes``, the most memory and processes at one look, and ``disk``, bytes at the end.

    Raises:
        DataError: If the output exists, or the build fails; with its last line.
    """
    if output.exists():
        raise DataError(f"{str(output)!r} exists already. Name another directory.")
    command = [sys.executable, "-m", "corpus_builder.cli", "build", "s2orc",
               "--input", str(release), "--output", str(output), "--memory", memory,
               "--workers", str(workers), *options]  # fmt: skip
    most, done, before = (0, 0), threading.Event(), resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace"
    )

    def look() -> None:
        nonlocal most
        while not done.wait(_INTERVAL):
            pss, count = memory_of(process.pid)
            most = max(most[0], pss), max(most[1], count)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    stages, last = {}, 0.0
    assert process.stdout is not None
    for line in process.stdout:
        if match := _DONE.match(line):
            now = time.monotonic() - started
            stages[match[1]], last = now - last, now
    errors = process.communicate()[1].strip().splitlines()
    status, seconds = process.returncode, time.monotonic() - started
    done.set()
    watcher.join()
    if status:
        raise DataError(f"the build fails with status {status}: {errors[-1] if errors else ''}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    places = (output, output.with_name(f"{output.name}.stages"))
    files = (path for place in places for path in place.rglob("*") if path.is_file())
    return {
        "machine": machine(),
        "papers": read_manifest(output)["counts"]["papers"],
        "seconds": seconds,
        "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "stages": stages,
        "pss": most[0],
        "processes": most[1],
        "disk": sum(path.stat().st_size for path in files),
    }


def memory_of(pid: int) -> tuple[int, int]:
    """Return the memory (PSS: shared pages count once) and number of a process and descendants."""
    pss = count = 0
    with suppress(psutil.Error):
        root = psutil.Process(pid)
        for process in (root, *root.children(recursive=True)):
            with suppress(psutil.Error):
                used = process.memory_full_info()
                pss, count = pss + getattr(used, "pss", used.rss), count + 1
    return pss, count


def show(results: dict[str, Any]) -> str:
    """Return tables of what `measure` returned."""
    rows = [*results["stages"].items(), ("all", results["seconds"])]
    rates = [(name, took, f"{results['papers'] / took:,.0f}") for name, took in rows]
    title = f"{results['papers']:,} papers; {results['machine']}"
    return (
        f"{table(title, ('stage', 'seconds', 'papers/s'), rates)}\n\n{results['cpu']:.1f} CPU "
        f"seconds; at most {results['processes']} processes with {results['pss'] / 1e6:,.0f} MB; "
        f"{results['disk'] / 1e6:,.0f} MB on disk"
    )
