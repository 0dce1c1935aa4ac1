"""From a configuration and a corpus to the runs that it takes, everything checked beforehand."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from arena._internal.files import sha256_json
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
from arena.results.experiments._cells import RUNS, Cell
from arena.results.experiments.config import FINDS, Experiment, Row, Table, slug, told_where
from arena.runs.environment import has_mind_maps, takes_found
from arena.runs.players import ORACLE, agent_factory
from arena.runs.rescoring import scored_stages
from arena.tasks import TASKS, TaskSet, can_score, choose_surveys


class Grid(NamedTuple):
    """The runs of an experiment.

    Attributes:
        cells: directory -> cell, in the order in which they are played: agents without a model
            first, and what another run needs before that run.
        reported: table name, heading -> the name by which `arena.rescore` reports the metric.
    """

    cells: dict[str, Cell]
    reported: dict[tuple[str, str], str]


def make_grid(experiment: Experiment, corpus: Corpus, prepare: bool = False) -> Grid:
    """Return the runs that the tables need.

    Args:
        experiment: the configuration.
        corpus: to play on.
        prepare: whether every agent shall be able to play now, with key and package.

    Raises:
        UnknownNameError: if a task, metric, agent, encoder, extractor or survey is unknown.
        DataError: if an agent does not take its options, or a metric does not go with its task.
        CorpusError: if an index is missing; the message has the command that builds it.
        NoLabelsError: if no survey has the labels that a task needs.
    """
    tasks = TaskSet(corpus.directory)
    reported = {
        (table.name, heading): _report_name(experiment, table, heading, metric)
        for table in experiment.tables
        for heading, metric in table.metrics.items()
    }
    _check_scoring(experiment)
    maker = _Maker(experiment, tasks, prepare)
    found: dict[str, Cell] = {}
    for table in experiment.tables:
        for row in table.rows:
            for column in columns_of(experiment, row):
                for cell in maker.cells(table.task, row, column):
                    known = found.setdefault(cell.directory, cell)
                    if known.told() != cell.told():
                        raise told_where(
                            experiment, row.place,
                            DataError(f"another table has {clip(row.label)} with other options. "
                                      "Give one of them another label."),
                        )  # fmt: skip
    _check_indexes(experiment, corpus, found)
    return Grid(_in_order(found), reported)


def columns_of(experiment: Experiment, row: Row) -> list[str]:
    """Return the labels of the retrievers that a row plays with."""
    return list(experiment.retrievers) if row.retriever is None else [row.retriever]


def directory_of(task: str, label: str, column: str) -> str:
    """Return where a run is, relative to the experiment."""
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
            recorded, asks, engines[column], further, env_options, found,
            self._chosen(task),
        )  # fmt: skip
        try:
            sha256_json(cell.told())
        except TypeError as error:
            self._refuse(row, "options", DataError(f"they must be what JSON can hold: {error}."))
        yield cell

    def _chosen(self, task: str) -> list[str]:
        if task not in self._surveys:
            asked, tasks = self._experiment.surveys, self._tasks
            counted = list(tasks.surveys)
            if has_mind_maps(task):
                counted = [survey_id for survey_id in counted if can_score(task, tasks, survey_id)]
                if isinstance(asked, list):  # without a map of its own there is no figure
                    chosen = choose_surveys(tasks, asked)
                    asked = [survey_id for survey_id in chosen if survey_id in counted]
                if not counted or asked == []:
                    raise NoLabelsError(
                        f"none of the surveys has a mind-map, which the task {task!r} needs. Leave "
                        "its tables out (--tables), or give the surveys of the corpus a `mind_map`."
                    )
            self._surveys[task] = choose_surveys(tasks, asked, counted)
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
        factory = agent_factory(agent, options, task, self._tasks)
        if self._prepare:
            factory.prepare()
        recorded = {
            key: value for key, value in options.items() if key not in factory.kind.unrecorded
        }
        return agent, factory.name, options, recorded, asks

    def _refuse(self, row: Row, key: str, error: ArenaError) -> None:
        raise told_where(self._experiment, (*row.place, key), error) from None


def _loaded(agent: str, folder: Path) -> str | type[Agent]:
    """Return the class that ``FILE.py:CLASS`` means, beside the configuration, or the name."""
    from arena.runs.players import load_agent

    file, _, name = agent.rpartition(":")
    return load_agent(f"{folder / file}:{name}" if file.endswith(".py") else agent)


def _report_name(experiment: Experiment, table: Table, heading: str, metric: str) -> str:
    place = ("tables", table.name)
    try:
        stages = TASKS.get(table.task).stages
    except ArenaError as error:
        raise told_where(experiment, (*place, "task"), error) from None
    stage, _, name = metric.partition(".")
    try:
        known = scored_stages(table.task, [name if stage in stages else metric])
    except ArenaError as error:
        raise told_where(experiment, (*place, "metrics", heading), error) from None
    if metric in known:
        return metric
    if len(known) == 1:
        return next(iter(known))
    told = DataError(f"several stages are scored by {clip(metric)}.{did_you_mean(metric, known)}")
    raise told_where(experiment, (*place, "metrics", heading), told)


def _check_scoring(experiment: Experiment) -> None:
    from arena.encoders import ENCODERS
    from arena.extractors import EXTRACTORS

    for key, registry in (("encoder", ENCODERS), ("extractor", EXTRACTORS)):
        try:
            registry.get(getattr(experiment, key))
        except ArenaError as error:
            raise told_where(experiment, (key,), error) from None


def _check_indexes(experiment: Experiment, corpus: Corpus, cells: dict[str, Cell]) -> None:
    """Refuse before the first episode what would stop the grid at its last column."""
    asked = {name: ("retrievers", cell.column) for cell in cells.values()
             for name in (cell.engine.retriever, *cell.retrievers)}  # fmt: skip
    missing: dict[str, None] = {}
    for name, place in asked.items():
        try:
            corpus.index_sha256(name)
        except CorpusError as error:
            missing[f"{place[1]}: {error}"] = None
        except (UnknownNameError, DataError) as error:
            raise told_where(experiment, place, error) from None
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
