"""One build as a process of its own, watched from its start to its end."""

from __future__ import annotations

import re
import shutil
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

from arena._internal.files import sha256_file
from arena.corpus import layout
from corpus_builder.bench._watch import Watched, size_of

_DONE = re.compile(r"\s*[\d.]+ s  (\S+) (?:is done|was done before)")


class Command(NamedTuple):
    """A build to be run.

    Attributes:
        release: the input.
        output: the corpus to be.
        memory: as ``--memory`` takes it.
        workers: processes.
        options: further options of ``arena-corpus build s2orc``.
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
        told = {"input": self.release, "output": self.output, "memory": self.memory,
                "workers": self.workers}  # fmt: skip
        pairs = [part for name, value in told.items() for part in (f"--{name}", str(value))]
        return [sys.executable, "-m", "corpus_builder.cli", "build", "s2orc", *pairs, *self.options]

    def clear(self) -> None:
        """Remove what earlier builds have left."""
        for path in (self.output, self.work):
            shutil.rmtree(path, ignore_errors=True)


class Stage(NamedTuple):
    """A stage of a build: when it was done, seconds it took, processor seconds it took."""

    name: str
    end: float
    wall: float
    processor: float


class Built(NamedTuple):
    """What became of a build.

    Attributes:
        status: exit status of the command.
        error: last line that it said of an error; empty if none.
        seconds: from start to end.
        processor: seconds of processor time.
        peak: bytes, see `Watched`.
        looks: how often the memory was looked at.
        stages: in order, those that were done.
        sizes: bytes on the disk in the end: ``output`` and ``stages``.
        hashes: path -> SHA-256 of every file of the output and the stages.
    """

    status: int
    error: str
    seconds: float
    processor: float
    peak: dict[str, int]
    looks: int
    stages: list[Stage]
    sizes: dict[str, int]
    hashes: dict[str, str]


class Progress:
    """Takes the lines of a build, and tells which stages are done."""

    def __init__(self) -> None:
        self.watched: Watched | None = None
        self.stages: list[Stage] = []
        self._end = self._processor = 0.0

    def line(self, seconds: float, text: str) -> None:
        """Take a line, printed so many seconds after the start."""
        match = _DONE.match(text)
        if match is None:
            return
        while self.watched is None:  # the first line may come before `Watched` is complete
            time.sleep(0.001)
        processor = self.watched.processor()
        wall, spent = seconds - self._end, processor - self._processor
        self.stages.append(Stage(match[1], seconds, wall, spent))
        self._end, self._processor = seconds, processor


def start(command: Command) -> tuple[Watched, Progress]:
    """Start a build."""
    progress = Progress()
    watched = Watched(command.line, (command.output, command.work), progress.line)
    progress.watched = watched
    return watched, progress


def finish(command: Command, watched: Watched, progress: Progress) -> Built:
    """Wait for a build."""
    processor = 0.0
    while watched.running():
        processor = max(processor, watched.processor())
        time.sleep(0.05)
    seconds = watched.seconds
    status = watched.wait()
    lines = watched.errors.strip().splitlines()
    return Built(
        status,
        lines[-1] if lines and status else "",
        seconds,
        processor,
        dict(watched.peak),
        watched.looks,
        list(progress.stages),
        {"output": size_of(command.output), "stages": size_of(command.work)},
        hashes(command),
    )


def build_once(command: Command) -> Built:
    """Build from nothing to the end, or to the stage that fails.

    Args:
        command: what to build; its output and stages are removed first.
    """
    command.clear()
    return finish(command, *start(command))


def hashes(command: Command) -> dict[str, str]:
    """Return the hash of every file of the output and the stages, by path."""
    found = {}
    for name, root in (("output", command.output), ("stages", command.work)):
        for path in sorted(root.rglob("*")):
            if path.is_file():
                found[f"{name}/{path.relative_to(root).as_posix()}"] = sha256_file(path)
    return found


def manifest_hashes(command: Command) -> dict[str, Any]:
    """Return the hashes that the manifest tells; none if there is no corpus."""
    if not (command.output / layout.MANIFEST).is_file():
        return {}
    manifest = layout.read_manifest(command.output)
    return {key: manifest[key] for key in sorted(manifest) if key.endswith("_sha256")}
