"""A build and its stages: source, configuration, resources, directories, resumable steps."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from arena._internal.files import write_json
from arena.errors import DataError, clip
from corpus_builder.executors import Executor, is_remote, make_executor
from corpus_builder.release import Limits, Release
from corpus_builder.stages._config import Config

LEAST_MEMORY = 1_000_000_000
_OWN = 300 << 20  # bytes that Python, Arrow and NumPy take before any data
_THREAD = 300 << 20
_WORKER = 500 << 20  # bytes that a process may need for one shard


class Resources(NamedTuple):
    """What a build may use.

    Attributes:
        memory: bytes, over all its processes on this machine.
        workers: processes and threads.
    """

    memory: int
    workers: int

    @property
    def processes(self) -> int:
        """How many processes that read shards fit into the memory beside this one."""
        return max(1, min(self.workers, (self.memory - _OWN) // _WORKER))

    @property
    def threads(self) -> int:
        """How many threads of DuckDB fit into its memory: each pins blocks of its own."""
        return max(1, min(self.workers, self.database // _THREAD))

    @property
    def each(self) -> int:
        """Bytes that DuckDB may manage in each of these processes."""
        return int((self.memory - _OWN) / self.processes * 0.5)

    @property
    def database(self) -> int:
        """Bytes that DuckDB may manage; what it takes besides is left out of this."""
        return int((self.memory - _OWN) * 0.7)


class Plan(NamedTuple):
    """A build.

    Attributes:
        source: registered name of the release's kind.
        release: where the papers come from.
        output: the corpus to be.
        config: of the stages.
        resources: for this run; no output depends on them.
        executor: runs what is done shard by shard.
        limits: dates and lengths that are plausible.
        overwrite: replace another corpus in `output`.
    """

    source: str
    release: Release
    output: Path
    config: Config
    resources: Resources
    executor: Executor
    limits: Limits
    overwrite: bool = False

    @property
    def work(self) -> Path:
        """Directory of the stages, beside the output."""
        return self.output.with_name(f"{self.output.name}.stages")

    def stage(self, name: str) -> Path:
        """Return the directory of a stage."""
        return self.work / name


def plan(
    source: str,
    release: Release,
    output: str | Path,
    config: Config | None = None,
    *,
    memory: int = 4 << 30,
    workers: int | None = None,
    engine: str = "local",
    overwrite: bool = False,
) -> Plan:
    """Return a build, checked as far as it can be without reading.

    Args:
        source: registered name of the release's kind.
        release: where the papers come from.
        output: directory of the corpus.
        config: of the stages; the defaults if None.
        memory: bytes that all processes of this machine together may use, at least 1 GB.
        workers: processes and threads; by default as many as this machine has processors.
        engine: registered name of what runs the tasks, see `corpus_builder.executors`.
        overwrite: replace another corpus in `output`.

    Raises:
        UnknownNameError: if no executor has that name.
        DataError: if a number is out of its range.
    """
    config = config or Config()
    if memory < LEAST_MEMORY:
        raise DataError(f"memory={clip(memory)} bytes: a build needs at least 1 GB.")
    asked = workers
    if workers is None:
        workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    if workers < 1:
        raise DataError(f"workers={clip(workers)}: give at least 1.")
    resources = Resources(memory, workers)
    # As many processes as fit into the memory of this machine, or as another has room for.
    executor = make_executor(engine, asked if is_remote(engine) else resources.processes)
    year = release.year
    last = config.last_year
    if last is None:
        last = Limits().last_year if year is None else year + 1
    limits = Limits(config.first_year, last, config.characters)
    path = Path(os.path.realpath(output))
    return Plan(source, release, path, config, resources, executor, limits, overwrite)


if TYPE_CHECKING:
    from corpus_builder.stages._plan import Plan


class Stage(Protocol):
    """One stage.

    Attributes:
        name: of the stage and of its directory.
        keeps: files and directories in it that stay when the stage is done again with other
            inputs; `run` removes of them what those have outdated.
    """

    name: str
    keeps: tuple[str, ...]

    def inputs(self, plan: Plan) -> Any:
        """Return what the result depends on besides the stages before, as JSON can hold it.

        A stage that was done with other inputs is done again, and so are those behind it.
        """
        ...

    def run(self, plan: Plan, steps: Steps) -> dict[str, Any]:
        """Write the stage's output; go on where a killed run stopped.

        Returns:
            The report: counts, by name, that depend on nothing but the input.
        """
        ...


class Steps:
    """The directory of a stage, and the steps that are done in it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._done = directory / ".steps"

    def once(self, name: str, work: Callable[[], Any]) -> Any:
        """Return what `work` returned, calling it only if no earlier run has completed it.

        Args:
            name: of the step.
            work: writes files, which it replaces if a killed run has left some; returns JSON.
        """
        told = self._done / f"{name}.json"
        if told.exists():
            return json.loads(told.read_bytes())
        value = work()
        self._done.mkdir(parents=True, exist_ok=True)
        write_json(told, value)
        return value

    def forget(self) -> None:
        """Do all steps again."""
        shutil.rmtree(self._done, ignore_errors=True)

    def scratch(self) -> Path:
        """Return an empty directory for what need not survive; removed when the stage is done."""
        path = self.directory / ".scratch"
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path
