"""From a configuration and a corpus to the runs that it needs, everything checked beforehand."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from arena._internal.files import sha256_json
from arena._internal.settings import Place
from arena.agents import AGENTS, Agent
from arena.corpus import Corpus
from arena.errors import (
    ArenaError,
    CorpusError,
    DataError,
    NoLabelsError,
    UnknownNameError,
    clip,
    did_you_mean,
)
from arena.results.experiments.config import FINDS, Engine, Experiment, Row, TableSpec, slug
from arena.runs.directory import MANIFEST
from arena.runs.environment import FOUND, arguments_of, has_mind_maps, takes_found
from arena.runs.players import ORACLE, AgentFactory
from arena.runs.rescoring import scored_stages
from arena.runs.trajectories import TRAJECTORIES
from arena.tasks import TASKS, TaskSet, can_score, choose_surveys, play_order

RUNS = "runs"


class Cell(NamedTuple):
    """One run of the grid.

    Attributes:
        directory: Its directory, relative to the experiment, with ``/``.
        task: The task that is played.
        label: Label of the row.
        column: Label of the retriever.
        agent: The agent, as `arena.run` takes it.
        name: Name of the agent, as the run records it.
        options: Keyword arguments of the agent.
        recorded: Those of them that the run records.
        asks: Whether the agent asks a language model.
        engine: The retriever.
        retrievers: Further engines.
        env_options: Further arguments of the environment.
        found: Directory of the run whose papers an episode begins with, or None.
        surveys: Ids.
    """

    directory: str
    task: str
    label: str
    column: str
    agent: str | type[Agent]
    name: str
    options: dict[str, Any]
    recorded: dict[str, Any]
    asks: bool
    engine: Engine
    retrievers: tuple[str, ...]
    env_options: dict[str, Any]
    found: str | None
    surveys: list[str]

    def identity(self) -> dict[str, Any]:
        """Return what distinguishes this run from others, as JSON, without paths and hosts."""
        return {
            "run": self.directory,
            "task": self.task,
            "row": self.label,
            "column": self.column,
            "agent": self.name,
            "agent_options": self.recorded,
            "retriever": self.engine.retriever,
            "retriever_options": self.engine.options,
            "retrievers": list(self.retrievers),
            "env_options": self.env_options,
            "found": self.found,
        }


class State(NamedTuple):
    """How far a cell is.

    Attributes:
        done: Number of episodes played.
        finished: Whether the run is complete.
        differs: Names of the settings in which the run in its directory is known to differ.
    """

    done: int
    finished: bool
    differs: tuple[str, ...]


class Grid(NamedTuple):
    """The runs of an experiment.

    Attributes:
        cells: Directory -> cell, in the order in which they are played: agents without a model
            first, and what another run needs before that run.
        reported: Table name, heading -> the name by which `arena.rescore` reports the metric.
    """

    cells: dict[str, Cell]
    reported: dict[tuple[str, str], str]


def make_grid(experiment: Experiment, corpus: Corpus, prepare: bool = False) -> Grid:
    """Return the runs that the tables need.

    Args:
        experiment: The configuration.
        corpus: The corpus to play on.
        prepare: Whether every agent must be able to play now, with key and package.

    Raises:
        UnknownNameError: if a task, metric, agent, encoder, extractor or survey is unknown.
        DataError: if an agent does not take its options, or a metric does not go with its task.
        CorpusError: if an index is missing; the message has the command that builds it.
        NoLabelsError: if no survey has the labels that a task needs.
    """
    reported = {
        (table.name, heading): _report_name(experiment, table, heading, metric)
        for table in experiment.tables.values()
        for heading, metric in table.metrics.items()
    }
    _check_scoring(experiment)
    maker = _Maker(experiment, TaskSet(corpus.directory), prepare)
    cells: dict[str, Cell] = {}
    for table in experiment.tables.values():
        for row in table.all_rows:
            for column in experiment.engines_of(row):
                for cell in maker.cells(table.task, row, column):
                    if cells.setdefault(cell.directory, cell).identity() != cell.identity():
                        raise experiment.locate(
                            row.place,
                            DataError(
                                f"another table has {clip(row.label)} with other options. Give "
                                "one of them another label."
                            ),
                        )
    _check_indexes(experiment, corpus, cells)
    return Grid(_in_order(cells), reported)


def directory_of(task: str, label: str, column: str) -> str:
    """Return the directory of a run, relative to the experiment."""
    return f"{RUNS}/{task}/{slug(label)}/{slug(column)}"


class _Maker:
    def __init__(self, experiment: Experiment, tasks: TaskSet, prepare: bool) -> None:
        self._experiment, self._tasks, self._prepare = experiment, tasks, prepare
        self._surveys: dict[str, list[str]] = {}
        self._agents: dict[Any, tuple[Any, ...]] = {}

    def cells(self, task: str, row: Row, column: str) -> Iterator[Cell]:
        """Yield the cell of a row in a column, after the one that it needs, if any."""
        found, env_options = None, dict(row.env_options)
        if row.found is not None:
            if not takes_found(task):
                self._refuse(row, "found", DataError(f"the task {task!r} begins with no papers."))
            finder = self._experiment.finders[row.found]
            first = finder.retriever or column
            yield from self.cells(FINDS, finder, first)
            found = directory_of(FINDS, finder.label, first)
            env_options.setdefault("references", "found")
        engines = self._experiment.retrievers
        further = tuple(engines[n].retriever if n in engines else n for n in row.retrievers)
        agent, name, options, recorded, asks = self._agent(task, row)
        cell = Cell(
            directory_of(task, row.label, column), task, row.label, column, agent, name, options,
            recorded, asks, engines[column], further, env_options, found, self._chosen(task),
        )  # fmt: skip
        try:
            sha256_json(cell.identity())
        except TypeError as error:
            self._refuse(row, "options", DataError(f"they must be what JSON can hold: {error}."))
        yield cell

    def _chosen(self, task: str) -> list[str]:
        if task not in self._surveys:
            asked, tasks = self._experiment.surveys, self._tasks
            counted = list(tasks.surveys)
            if has_mind_maps(task):
                counted = [survey_id for survey_id in counted if can_score(task, tasks, survey_id)]
                if isinstance(asked, list):  # a survey without a mind-map has no score
                    chosen = choose_surveys(tasks, asked)
                    asked = [survey_id for survey_id in chosen if survey_id in counted]
                if not counted or asked == []:
                    raise NoLabelsError(
                        f"none of the surveys has a mind-map, which the task {task!r} needs. Leave "
                        "its tables out (--tables), or give the surveys of the corpus a `mind_map`."
                    )
            self._surveys[task] = play_order(tasks, choose_surveys(tasks, asked, counted))
        return self._surveys[task]

    def _agent(self, task: str, row: Row) -> tuple[Any, ...]:
        key = (task, row.place)
        if key not in self._agents:
            try:
                self._agents[key] = self._checked_agent(task, row)
            except ArenaError as error:
                self._refuse(row, "agent", error)
        return self._agents[key]

    def _checked_agent(self, task: str, row: Row) -> tuple[Any, ...]:
        from arena.llm import LLMAgent

        agent = row.agent
        if isinstance(agent, str) and agent != ORACLE:
            agent = _loaded(agent, self._experiment.source.folder)
        kind = AGENTS.get(agent) if isinstance(agent, str) and agent != ORACLE else agent
        asks = isinstance(kind, type) and issubclass(kind, LLMAgent)
        options = (self._experiment.llm if asks else {}) | row.options
        if asks:
            known = inspect.signature(LLMAgent).parameters
            for name in self._experiment.llm:
                if name not in known or name == "seed":
                    raise DataError(f"llm.{name}: no such option.{did_you_mean(name, known)}")
            if "model" not in options:
                raise DataError("it asks a language model: name one as `model` under `llm`.")
        factory = AgentFactory(agent, options, task, self._tasks)
        if self._prepare:
            factory.prepare()
        recorded = {
            key: value for key, value in options.items() if key not in factory.kind.unrecorded
        }
        return agent, factory.name, options, recorded, asks

    def _refuse(self, row: Row, key: str, error: ArenaError) -> None:
        raise self._experiment.locate((*row.place, key), error) from None


def _loaded(agent: str, folder: Path) -> str | type[Agent]:
    """Return the class that ``FILE.py:CLASS`` means, beside the configuration, or the name."""
    file, _, name = agent.rpartition(":")
    return AGENTS.get(f"{folder / file}:{name}") if file.endswith(".py") else agent


def _report_name(experiment: Experiment, table: TableSpec, heading: str, metric: str) -> str:
    place: Place = ("tables", table.name)
    try:
        stages = TASKS.get(table.task).stages
    except ArenaError as error:
        raise experiment.locate((*place, "task"), error) from None
    place = (*place, "metrics", heading)
    stage, _, name = metric.partition(".")
    try:
        known = scored_stages(table.task, [name if stage in stages else metric])
    except ArenaError as error:
        raise experiment.locate(place, error) from None
    if metric in known:
        return metric
    if len(known) == 1:
        return next(iter(known))
    hint = did_you_mean(metric, known)
    raise experiment.locate(place, DataError(f"several stages are scored by {clip(metric)}.{hint}"))


def _check_scoring(experiment: Experiment) -> None:
    from arena.encoders import ENCODERS
    from arena.mindmap.extractors import EXTRACTORS

    for key, registry in (("encoder", ENCODERS), ("extractor", EXTRACTORS)):
        try:
            registry.get(getattr(experiment, key))
        except ArenaError as error:
            raise experiment.locate((key,), error) from None


def _check_indexes(experiment: Experiment, corpus: Corpus, cells: dict[str, Cell]) -> None:
    """Refuse before the first episode what would stop the grid at its last column."""
    columns = {
        name: cell.column
        for cell in cells.values()
        for name in (cell.engine.retriever, *cell.retrievers)
    }
    missing: dict[str, None] = {}
    for name, column in columns.items():
        try:
            corpus.index_sha256(name)
        except CorpusError as error:
            missing[f"{column}: {error}"] = None
        except (UnknownNameError, DataError) as error:
            raise experiment.locate(("retrievers", column), error) from None
    if missing:
        raise CorpusError(f"{' '.join(missing)} Or name other engines with --retriever LABEL=NAME.")


def _in_order(cells: dict[str, Cell]) -> dict[str, Cell]:
    ordered: dict[str, Cell] = {}

    def add(cell: Cell) -> None:
        if cell.found is not None:
            add(cells[cell.found])
        ordered.setdefault(cell.directory, cell)

    for cell in sorted(cells.values(), key=lambda cell: cell.asks):
        add(cell)
    return ordered


def state_of(output: Path, cell: Cell, experiment: Experiment, sha256: Mapping[str, str]) -> State:
    """Return how far a cell is, without opening an engine.

    Args:
        output: Directory of the experiment.
        cell: The cell.
        experiment: The configuration.
        sha256: Hashes of ``corpus`` and ``tasks``.

    Raises:
        DataError: if the environment does not take its options.
    """
    directory = output / cell.directory
    try:
        manifest = json.loads((directory / MANIFEST).read_bytes())
        keys = ("task", "agent", "agent_options", "retriever", "seed", "surveys")
        played = {key: manifest[key] for key in keys}
        played |= {key: manifest["sha256"][key] for key in ("corpus", "tasks")}
        played |= manifest["budget"] | _comparable(manifest["environment"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return State(0, False, ())
    arguments = arguments_of(
        cell.task,
        retriever=cell.engine.retriever,
        retriever_options=cell.engine.options,
        retrievers=cell.retrievers,
        reward=None,
        reward_options=None,
        encoder=experiment.encoder,
        options=cell.env_options,
        budget=experiment.budget,
    )
    wanted = {
        "task": cell.task, "agent": cell.name, "agent_options": cell.recorded,
        "surveys": cell.surveys, "seed": experiment.seed, **sha256,
        **_comparable(arguments | ({} if cell.found is None else {FOUND: cell.found})),
    }  # fmt: skip
    differs = tuple(
        key
        for key in {**wanted, **played}
        if sha256_json(wanted.get(key)) != sha256_json(played.get(key))
    )
    try:
        done = (directory / TRAJECTORIES).read_bytes().count(b"\n")
    except OSError:
        done = 0
    return State(done, isinstance(manifest.get("files"), dict), differs)


def _comparable(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with, in place of the papers found, whether there are any."""
    rest = {key: value for key, value in arguments.items() if key != FOUND}
    return rest | {FOUND: arguments.get(FOUND) is not None}
