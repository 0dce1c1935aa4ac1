"""Measure a build of a simulated release, and whether kills change its result (Linux only).

The first build runs to its end and is watched; the second, with another number of workers, is
killed with SIGKILL at random moments (all its processes, or every fourth time the first one alone)
and started again until it is complete. Every file of both must be the same.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from arena._internal import tables
from arena._internal.files import sha256_file
from arena.corpus import layout
from benchmarks import machine

PATIENCE = 30.0
"""Seconds that the children of a killed process have to end."""

_INTERVAL = 0.2  # seconds between two looks at the memory
_ALONE_EVERY = 4  # every fourth kill is of the first process alone
_DONE = re.compile(r"\s*[\d.]+ s  (\S+) (?:is done|was done before)")


class StageTime(NamedTuple):
    """A stage of a build: when it ended, and the wall and processor seconds it took."""

    name: str
    end: float
    wall: float
    processor: float


class Watched:
    """A command that runs in a session of its own, so that every process it starts is known.

    Args:
        command: Program and arguments.
        places: Directories whose size is watched.

    Attributes:
        peak: ``rss`` and ``pss``: the most bytes of all its processes together at one look; RSS
            counts shared pages once per process. ``processes``: the most at once. ``disk``: the
            most bytes in `places`.
        lines: The lines that it has printed.
        stages: The stages of a build that it has reported as done.
        errors: The end of what it wrote to standard error.
    """

    def __init__(self, command: Sequence[str], places: Sequence[Path] = ()) -> None:
        self.peak = {"rss": 0, "pss": 0, "processes": 0, "disk": 0}
        self.lines: list[str] = []
        self.stages: list[StageTime] = []
        self.errors = ""
        self._places, self._done = places, threading.Event()
        self._started = time.monotonic()
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
        works = (self._look, self._read, self._read_errors)
        self._threads = [threading.Thread(target=work, daemon=True) for work in works]
        for thread in self._threads:
            thread.start()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self._started

    def processes(self) -> list[psutil.Process]:
        """Return all processes of the session that have not ended."""
        living = []
        for process in psutil.process_iter():
            with suppress(psutil.Error, ProcessLookupError):
                if (
                    os.getsid(process.pid) == self._process.pid
                    and process.status() != psutil.STATUS_ZOMBIE
                ):
                    living.append(process)
        return living

    def processor(self) -> float:
        """Return the seconds of processor time of its processes so far."""
        total = 0.0
        for process in self.processes():
            with suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
                if process.pid == self._process.pid:  # and of children that have ended
                    total += times.children_user + times.children_system
        return total

    def running(self) -> bool:
        """Return whether the first process runs."""
        return self._process.poll() is None

    def kill(self, alone: bool = False) -> float:
        """Kill the first process, or all of them; return the seconds until none was left.

        Args:
            alone: Kill only the first one; its children must notice.

        Raises:
            RuntimeError: A child is there after `PATIENCE` seconds.
        """
        started, outlived = time.monotonic(), 0
        for process in self.processes():
            if not alone or process.pid == self._process.pid:
                with suppress(psutil.Error):
                    process.kill()
        self._process.wait()
        while left := self.processes():
            if alone and not outlived and time.monotonic() - started > PATIENCE:
                outlived = len(left)
            if outlived or not alone:  # also those begun while the others were killed
                for process in left:
                    with suppress(psutil.Error):
                        process.kill()
            time.sleep(0.01)
        waited = time.monotonic() - started
        self._finish()
        if outlived:
            raise RuntimeError(f"{outlived} processes outlived the one that started them")
        return waited

    def wait(self) -> int:
        """Wait for the command; return its exit status."""
        status = self._process.wait()
        self._finish()
        return status

    def _finish(self) -> None:
        self._done.set()
        for thread in self._threads:
            thread.join()

    def _look(self) -> None:
        while True:
            living = self.processes()
            memory = []
            for process in living:
                with suppress(psutil.Error):
                    memory.append(process.memory_full_info())
            look = {
                "processes": len(living),
                "rss": sum(used.rss for used in memory),
                "pss": sum(used.pss for used in memory),
                "disk": sum(map(size_of, self._places)),
            }
            self.peak = {name: max(self.peak[name], value) for name, value in look.items()}
            if self._done.wait(_INTERVAL):
                return

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                self.lines.append(line.rstrip("\n"))
                if match := _DONE.match(line):
                    end, processor = self.seconds, self.processor()
                    walls = sum(stage.wall for stage in self.stages)
                    spent = sum(stage.processor for stage in self.stages)
                    self.stages.append(StageTime(match[1], end, end - walls, processor - spent))

    def _read_errors(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as file:
            self.errors = file.read()[-4000:]


def size_of(place: Path) -> int:
    """Return the bytes on disk of a directory with everything below it; 0 if it is missing."""
    total = 0
    for root, _, files in os.walk(place):
        for name in files:
            with suppress(OSError):
                total += (Path(root) / name).lstat().st_blocks * 512
    return total


class Command(NamedTuple):
    """A build to run.

    Attributes:
        release: The input.
        output: Directory of the corpus.
        memory: As ``--memory`` takes it.
        workers: Processes.
        options: Further options of ``arena-corpus build s2orc``.
    """

    release: Path
    output: Path
    memory: str
    workers: int
    options: tuple[str, ...] = ()

    @property
    def work(self) -> Path:
        """Directory of the stages."""
        return self.output.with_name(f"{self.output.name}.stages")

    @property
    def line(self) -> list[str]:
        """Program and arguments."""
        arguments = {"input": self.release, "output": self.output, "memory": self.memory,
                     "workers": self.workers}  # fmt: skip
        pairs = [part for name, value in arguments.items() for part in (f"--{name}", str(value))]
        return [sys.executable, "-m", "corpus_builder.cli", "build", "s2orc", *pairs, *self.options]

    def clear(self) -> None:
        """Remove what earlier builds have left."""
        for path in (self.output, self.work):
            shutil.rmtree(path, ignore_errors=True)

    def start(self) -> Watched:
        """Start the build."""
        return Watched(self.line, (self.output, self.work))

    def hashes(self) -> dict[str, str]:
        """Return path -> SHA-256 of every file of the output and the stages."""
        return {
            f"{name}/{path.relative_to(root).as_posix()}": sha256_file(path)
            for name, root in (("output", self.output), ("stages", self.work))
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }


class Built(NamedTuple):
    """The outcome of a build.

    Attributes:
        status: Exit status of the command.
        error: Last line on standard error if the build failed, else empty.
        seconds: From start to end.
        processor: Seconds of processor time.
        watched: The finished command.
        hashes: Path -> SHA-256 of every file of the output and the stages.
    """

    status: int
    error: str
    seconds: float
    processor: float
    watched: Watched
    hashes: dict[str, str]


def finish(command: Command, watched: Watched) -> Built:
    """Wait for a build."""
    processor = 0.0
    while watched.running():
        processor = max(processor, watched.processor())
        time.sleep(0.05)
    seconds, status = watched.seconds, watched.wait()
    lines = watched.errors.strip().splitlines()
    error = lines[-1] if lines and status else ""
    return Built(status, error, seconds, processor, watched, command.hashes())


def build_once(command: Command) -> Built:
    """Build from nothing to the end, or to the stage that fails."""
    command.clear()
    return finish(command, command.start())


class Moment(NamedTuple):
    """When to kill: so many seconds into the stage that follows `done` others."""

    done: int
    seconds: float


class Kill(NamedTuple):
    """A kill.

    Attributes:
        moment: When it was meant to be.
        alone: Whether only the first process was killed.
        ran: Seconds that the build ran before it.
        stage: Name of the last stage that was done by then, or ``start``.
        waited: Seconds until no process was left.
        processes: How many there were.
    """

    moment: Moment
    alone: bool
    ran: float
    stage: str
    waited: float
    processes: int


def moments(stages: Sequence[StageTime], count: int, seed: int) -> list[Moment]:
    """Draw `count` moments evenly over the duration of an uninterrupted build, in order."""
    draw = random.Random(seed)
    total = stages[-1].end if stages else 0.0
    drawn = []
    for at in sorted(draw.uniform(0, total) for _ in range(count)):
        done = sum(stage.end <= at for stage in stages)
        drawn.append(Moment(done, at - (stages[done - 1].end if done else 0.0)))
    return drawn


def build_killed(
    command: Command, when: Sequence[Moment], report: Callable[[Kill], None] = lambda kill: None
) -> tuple[Built, list[Kill]]:
    """Build from nothing, killed at each moment and started again.

    A stage that was interrupted resumes, so a kill may come later in it than its number says, or at
    its end, never sooner.

    Args:
        command: The build; its output and stages are removed first.
        when: In order.
        report: Called with each kill.

    Returns:
        The last run, which nothing interrupted, and the kills; fewer than `when` if the build came
        to its end before the last of them.

    Raises:
        RuntimeError: A child outlived the first process by 30 seconds.
    """
    command.clear()
    kills: list[Kill] = []
    for number, moment in enumerate(when):
        watched = command.start()
        reached: float | None = None
        while watched.running():
            done = len(watched.stages)
            if reached is None and done >= moment.done:
                reached = watched.stages[moment.done - 1].end if moment.done else 0.0
            if reached is not None and (
                done > moment.done or watched.seconds - reached >= moment.seconds
            ):
                break
            time.sleep(0.002)
        if not watched.running():
            return finish(command, watched), kills
        alone = number % _ALONE_EVERY == _ALONE_EVERY - 1
        ran, processes = watched.seconds, len(watched.processes())
        stage = watched.stages[-1].name if watched.stages else "start"
        kills.append(Kill(moment, alone, ran, stage, watched.kill(alone), processes))
        report(kills[-1])
    return finish(command, command.start()), kills


def differences(one: Built, other: Built) -> list[str]:
    """Return the files that only one of two builds has, or that differ."""
    names = one.hashes.keys() | other.hashes.keys()
    return sorted(name for name in names if one.hashes.get(name) != other.hashes.get(name))


def summary(command: Command, built: Built) -> dict[str, Any]:
    """Return all that was measured of a build, as JSON has it.

    ``documents`` are the papers of the corpus, or, where no corpus was built, those that ``parse``
    has read. Rates are over wall time.
    """
    lines, papers = _counts(command)
    peak = built.watched.peak
    manifest = {}
    if (command.output / layout.MANIFEST).is_file():
        manifest = layout.read_manifest(command.output)
    return {
        "command": ["arena-corpus", *command.line[3:]],
        "machine": machine.describe(),
        "status": built.status,
        "error": built.error,
        "seconds": round(built.seconds, 3),
        "processor_seconds": round(built.processor, 2),
        "documents": papers,
        "documents_per_second": round(papers / built.seconds, 1),
        "lines": lines,
        "stages": [
            {
                "name": stage.name,
                "seconds": round(stage.wall, 3),
                "processor_seconds": round(stage.processor, 2),
                "documents_per_second": round(papers / stage.wall, 1) if stage.wall else None,
            }
            for stage in built.watched.stages
        ],
        "peak_rss_bytes": peak["rss"],
        "peak_pss_bytes": peak["pss"],
        "most_processes": peak["processes"],
        "disk_bytes": {
            "output": size_of(command.output),
            "stages": size_of(command.work),
            "most": peak["disk"],
        },
        "manifest": {key: manifest[key] for key in sorted(manifest) if key.endswith("_sha256")},
        "files": len(built.hashes),
    }


def _counts(command: Command) -> tuple[dict[str, int], int]:
    """Return the lines of each dataset, and the number of documents."""
    try:
        report = json.loads((command.work / "parse" / "stage.json").read_bytes())["report"]
    except (OSError, ValueError, LookupError):
        return {}, 0
    lines = {name: int(of["lines"]) for name, of in report["datasets"].items()}
    if (command.output / layout.MANIFEST).is_file():
        return lines, int(layout.read_manifest(command.output)["counts"]["papers"])
    return lines, int(report["papers"])


def show(measured: dict[str, Any]) -> str:
    """Return tables of what `summary` returned."""
    everything = {"name": "all", **measured}
    keys = ("name", "seconds", "processor_seconds", "documents_per_second")
    stages = [[stage[key] for key in keys] for stage in (*measured["stages"], everything)]
    disk = measured["disk_bytes"]
    rows = [
        ["documents", f"{measured['documents']:,}"],
        *([f"lines of {name}", f"{count:,}"] for name, count in measured["lines"].items()),
        ["peak memory, shared pages once (PSS)", f"{measured['peak_pss_bytes'] / 1e9:.2f} GB"],
        ["peak memory, summed (RSS)", f"{measured['peak_rss_bytes'] / 1e9:.2f} GB"],
        ["most processes at once", f"{measured['most_processes']}"],
        *([f"disk: {name}", f"{count / 1e9:.2f} GB"] for name, count in disk.items()),
        ["exit status", f"{measured['status']} {measured['error']}".strip()],
        *([name, value] for name, value in measured["manifest"].items()),
    ]
    headers = ["stage", "seconds", "processor s", "documents/s"]
    return "\n\n".join(
        [tables.text(headers, stages, missing=""), tables.text(["what", "value"], rows)]
    )


def measure(
    command: Command, kills: int, other_workers: int, seed: int = 1, keep: bool = False
) -> dict[str, Any]:
    """Build once, then again with kills; print both; return all figures.

    Args:
        command: The first build; the second one lies in ``killed`` beside its output.
        kills: How many; 0 for one build alone.
        other_workers: Workers of the second build.
        seed: Of the moments.
        keep: Keep the second build.
    """
    built = build_once(command)
    results: dict[str, Any] = {"whole": summary(command, built)}
    print(show(results["whole"]), flush=True)
    if not kills:
        return results
    other = command._replace(output=command.output.with_name("killed"), workers=other_workers)

    def report(kill: Kill) -> None:
        whom = "the first process alone" if kill.alone else "all"
        print(
            f"killed {whom} of {kill.processes} after {kill.ran:.1f} s, last done: {kill.stage}; "
            f"none left after {kill.waited:.2f} s",
            flush=True,
        )

    again, done = build_killed(other, moments(built.watched.stages, kills, seed), report)
    differ = differences(built, again)
    results["killed"] = {
        "workers": other_workers,
        "seed": seed,
        "kills": [kill._asdict() | {"moment": kill.moment._asdict()} for kill in done],
        "status": again.status,
        "error": again.error,
        "files": len(again.hashes),
        "differ": differ,
        "same": not differ and built.status == again.status,
    }
    print(
        f"{len(done)} of {kills} kills, {other_workers} instead of {command.workers} workers: "
        f"{len(again.hashes)} files, {len(differ)} of them differ",
        *([again.error] if again.error else []),
        *(f"differs: {name}" for name in differ[:10]),
        sep="\n",
    )
    if not keep:
        other.clear()
    return results
