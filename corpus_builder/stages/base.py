"""A build and its stages: configuration (docs/building.md), resources, directories, steps."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import duckdb
import pyarrow as pa
from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, model_validator

from arena.errors import DataError, clip
from arena.executors import EXECUTORS, Executor, make_executor
from arena.kit.files import TEMPORARY_SUFFIX
from arena.kit.process import cores
from arena.retrieval import RETRIEVERS
from corpus_builder.database import connected
from corpus_builder.files import RowWriter, read_report, write_report
from corpus_builder.judges import JUDGES
from corpus_builder.release import RecordLimits, Release
from corpus_builder.settings import Flag, Positive, Settings, Text, Whole, read_source, refusal


class Dates(Settings):
    """Section ``dates``: which publication dates are plausible."""

    first_year: Positive = 1600
    last_year: Positive | None = None

    @model_validator(mode="after")
    def _check_order(self) -> Dates:
        if self.last_year is not None and self.last_year < self.first_year:
            raise refusal(f"last_year {self.last_year} is before first_year {self.first_year}.")
        return self


class Surveys(Settings):
    """Section ``surveys``: what is a survey (paper, section 3.1)."""

    title: Text = "survey"
    judge: Annotated[Text, AfterValidator(JUDGES.resolve)] = "rules"
    options: dict[str, Any] = Field(default={})


class References(Settings):
    """Section ``references``: which surveys can be tasks (paper, section 3.2)."""

    min_listed: Whole = 1
    min_available: Whole = 1
    min_tasks: Whole = 1
    influential_mentions: Positive | None = None


def _place(value: Any, info: ValidationInfo) -> Path:
    if not isinstance(value, str):
        raise refusal(f"expected a path, not {value!r:.80}.")
    folder: Path = (info.context or {}).get("folder", Path())
    return folder / value


Place = Annotated[Path, BeforeValidator(_place)]
"""A path; a relative one starts at the directory of the configuration."""


class MindMaps(Settings):
    """Section ``mind_maps``: how gold mind-maps are made of figures (paper, section 3.3)."""

    figures: Place | None = None
    options: dict[str, Any] = Field(default={})


class IndexSettings(Settings):
    """Section ``index``: which indexes the corpus has, over which fields."""

    engines: tuple[Annotated[Text, AfterValidator(RETRIEVERS.resolve)], ...] = ("bm25",)
    fields: tuple[Text, ...] | None = None


class Config(Settings):
    """A configuration; ``configs/s2orc.yaml`` explains every key and has its default."""

    full_text_only: Flag = True
    max_rejected: Annotated[float, Field(strict=True, ge=0, le=1)] = 0.01
    allow_damaged: Flag = False
    dates: Dates = Dates()
    characters: Positive = 5_000_000
    surveys: Surveys = Surveys()
    references: References = References()
    mind_maps: MindMaps = MindMaps()
    index: IndexSettings = IndexSettings()
    prompts: Place | None = None


def read_config(
    config: str | Path | Mapping[str, Any] | None = None, changes: Mapping[str, Any] | None = None
) -> Config:
    """Read a YAML file, or a mapping like one; `changes` have keys such as ``surveys.judge``."""
    source = read_source({} if config is None else config, "build", "docs/building.md")
    if changes:
        source = source.changed({tuple(key.split(".")): value for key, value in changes.items()})
    return source.check(Config)


LEAST_MEMORY = 1_000_000_000
_OWN = 300 << 20  # bytes that Python, Arrow and NumPy take before any data
_THREAD = 300 << 20
_WORKER = 500 << 20  # bytes that a process may need for one shard


class Plan(NamedTuple):
    """A build.

    Neither `memory`, the bytes for all its processes on this machine, nor `workers`, the number of
    processes and threads, nor `executor`, which runs the tasks that handle one shard each, changes
    the output. `limits` are those of plausible values; `shown` is the output as the user gave it.
    """

    source: str
    release: Release
    output: Path
    config: Config
    memory: int
    workers: int
    executor: Executor
    limits: RecordLimits
    overwrite: bool = False
    shown: str = ""

    @property
    def work(self) -> Path:
        """Directory of the stages, next to the output."""
        return self.output.with_name(f"{self.output.name}.stages")

    def stage(self, name: str) -> Path:
        """Return the directory of a stage."""
        return self.work / name

    @property
    def database(self) -> int:
        """Bytes that DuckDB manages; it needs some memory besides."""
        return int((self.memory - _OWN) * 0.7)

    @property
    def threads(self) -> int:
        """Number of DuckDB threads that fit into its memory: each pins blocks of its own."""
        return max(1, min(self.workers, self.database // _THREAD))

    @property
    def each(self) -> int:
        """Bytes that DuckDB manages in each process that handles a shard."""
        return int((self.memory - _OWN) / _processes(self.memory, self.workers) * 0.5)


def _processes(memory: int, workers: int) -> int:
    """Return the number of processes for shards that fit into the memory next to this one."""
    return max(1, min(workers, (memory - _OWN) // _WORKER))


def plan(
    source: str,
    release: Release,
    output: str | Path,
    config: Config | None = None,
    *,
    memory: int = 4 << 30,
    workers: int | None = None,
    executor: str = "local",
    overwrite: bool = False,
) -> Plan:
    """Return a build, checked as far as possible without reading the release.

    The arguments are those of `Plan`, where `config` is by default that of ``{}`` and `workers` the
    number of processors; `executor` is the registered name of one.
    """
    config = config or Config()
    if memory < LEAST_MEMORY:
        raise DataError(f"memory={clip(memory)} bytes: a build needs at least 1 GB.")
    if workers is not None and workers < 1:
        raise DataError(f"workers={clip(workers)}: give at least 1.")
    remote, cpus = EXECUTORS.find(executor).remote, workers or cores()
    # As many processes as fit into the memory of this machine, or as another has room for.
    pool = make_executor(executor, workers if remote else _processes(memory, cpus))
    last = config.dates.last_year
    if last is None:
        last = RecordLimits().last_year if release.year is None else release.year + 1
    limits = RecordLimits(config.dates.first_year, last, config.characters)
    path = Path(os.path.realpath(output))
    return Plan(source, release, path, config, memory, cpus, pool, limits, overwrite, str(output))


class Steps:
    """The directory of a stage, and the steps in it that were completed with the same key."""

    FILE = "steps.json"

    def __init__(
        self, directory: Path, key: Any = None, reports: Mapping[str, dict[str, Any]] | None = None
    ) -> None:
        self.directory, self._key = directory, key
        self.reports = dict(reports or {})
        self.done: dict[str, Any] = read_report(directory / self.FILE, key) or {}

    def once(self, name: str, work: Callable[[], Any]) -> Any:
        """Return the value of a step; call `work` only if no earlier run completed the step."""
        if name not in self.done:
            self._write(self.done | {name: work()})
        return self.done[name]

    def forget(self) -> None:
        """Forget which steps are completed."""
        self._write({})

    def _write(self, done: dict[str, Any]) -> None:
        write_report(self.directory / self.FILE, self._key, done)
        self.done = done

    def scratch(self) -> Path:
        """Return an empty directory for temporary files, which is removed after the stage."""
        path = self.directory / ".scratch"
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        return path

    def connect(self, plan: Plan) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        """Open an empty database that spills into `scratch`."""
        return connected(self.scratch(), plan.database, plan.threads)

    @contextmanager
    def outputs(self, table: str, schema: pa.Schema, notes: str) -> Iterator[tuple[Any, Any]]:
        """Open a table and a file of JSON lines, which appear when both are complete.

        Yields:
            A function that adds a row to the table, and one that adds an object to the lines.
        """
        new = [self.directory / f".{name}{TEMPORARY_SUFFIX}" for name in (table, notes)]
        with RowWriter(new[0], schema) as rows, new[1].open("w", encoding="ascii") as lines:
            yield rows.add, lambda entry: lines.write(json.dumps(entry) + "\n")
        for path, name in zip(new, (table, notes), strict=True):
            path.rename(self.directory / name)


class Stage(NamedTuple):
    """One stage; `name` is that of its directory, too.

    `inputs` returns, as JSON values, what the result depends on besides the earlier stages: with
    others the stage and all later ones run again. `run` writes the output, continuing where a
    killed run stopped, and returns the report: counts, by name, that depend on the input alone.
    `keeps` are files and directories that stay when the stage runs again; `run` removes what is
    outdated of them.
    """

    name: str
    inputs: Callable[[Plan], Any]
    run: Callable[[Plan, Steps], dict[str, Any]]
    keeps: tuple[str, ...] = ()
