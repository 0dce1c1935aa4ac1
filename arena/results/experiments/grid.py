"""From a configuration and a corpus to the runs that it needs, everything checked beforehand."""

from __future__ import annotations

import functools
import inspect
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from arena._internal.files import sha256_json
from arena._internal.settings import Place
from arena.agents import AGENTS, Agent
from arena.corpus import Corpus
from arena.encoders import ENCODERS
from arena.envs import EnvConfig
from arena.errors import (
    ArenaError,
    CorpusError,
    DataError,
    NoLabelsError,
    UnknownNameError,
    clip,
    did_you_mean,
)
from arena.mindmap.extractors import EXTRACTORS
from arena.results.experiments.config import FINDS, Experiment, Row, directory_of
from arena.runs.directory import OpenedRun
from arena.runs.environment import encoder_of, recorded
from arena.runs.players import ORACLE, AgentFactory
from arena.tasks import (
    TASKS,
    TaskSet,
    can_score,
    choose_surveys,
    kinds_of_answers,
    play_order,
    scored_stages,
    stages_of,
    with_topic,
)

JUDGED = "judge."
"""Prefix of the numbers that the configuration's judge reports; see `arena.judging`."""


class Cell(NamedTuple):
    """One run of the grid.

    Attributes:
        record: What distinguishes it from others, as JSON, without paths and hosts: ``run`` (its
            directory, relative to the experiment), ``task``, ``row`` and ``column`` (labels),
            ``agent`` (as the run records it), ``agent_options``, ``retriever``,
            ``retriever_options``, ``retrievers``, ``env_options``, and ``found``: the directory of
            the run whose papers an episode begins with, or None.
        agent: The agent, as `arena.run` takes it.
        options: Keyword arguments of the agent, also those that are not recorded.
        asks: Whether the agent asks a language model.
        surveys: Ids.
    """

    record: dict[str, Any]
    agent: str | type[Agent]
    options: dict[str, Any]
    asks: bool
    surveys: list[str]

    def settings(self, experiment: Experiment) -> dict[str, Any]:
        """Return the settings of the environment, see `arena.envs.EnvConfig`."""
        names = ("retriever", "retriever_options", "retrievers")
        return {
            **{name: self.record[name] for name in names},
            "encoder": experiment.encoder,
            **experiment.budget_of(self.record["task"]),
            **self.record["env_options"],
        }


def make_grid(experiment: Experiment, corpus: Corpus, prepare: bool = False) -> dict[str, Cell]:
    """Return the runs that the tables need: directory -> cell, in the order of playing.

    Agents without a language model come first, and what another run needs before that run.

    Args:
        experiment: The configuration.
        corpus: The corpus to play on.
        prepare: Whether every agent must be able to play now, with key and package.

    Raises:
        UnknownNameError: A task, metric, agent, encoder, extractor or survey is unknown.
        DataError: An agent does not take its options, or a metric does not go with its task.
        CorpusError: An index is missing; the message has the command that builds it.
        NoLabelsError: No survey has the labels that a task needs.
    """
    reported_metrics(experiment)
    for key, registry in (("encoder", ENCODERS), ("extractor", EXTRACTORS)):
        try:
            registry.get(getattr(experiment, key))
        except ArenaError as error:
            raise experiment.locate((key,), error) from None
    tasks = TaskSet(corpus)
    surveys = functools.cache(functools.partial(_surveys, experiment.surveys, tasks))
    cells: dict[str, Cell] = {}
    for task, place, row, column in _wanted(experiment):
        played = surveys(task, row.env_options.get("prompt") or "title")
        cell = _make_cell(experiment, tasks, prepare, task, place, row, column, played)
        if cells.setdefault(cell.record["run"], cell).record != cell.record:
            why = f"another table has {clip(cell.record['row'])} with other options."
            raise experiment.locate(place, DataError(f"{why} Give one of them another label."))
    _check_indexes(experiment, corpus, cells)
    ordered: dict[str, Cell] = {}
    for cell in sorted(cells.values(), key=lambda cell: cell.asks):
        for key in (cell.record["found"], cell.record["run"]):
            if key is not None:
                ordered.setdefault(key, cells[key])
    return ordered


def _wanted(experiment: Experiment) -> Iterator[tuple[str, Place, Row, str]]:
    """Yield task, place, row and column of each run, after those of the run it begins with."""
    for place, row in experiment.placed_rows():
        table = experiment.tables[place[1]]
        for column in experiment.engines_of(table, row):
            if row.found is not None:
                finder_place, finder = experiment.finder(row.found)
                yield FINDS, finder_place, finder, finder.retriever or column
            yield table.task, place, row, column


def reported_metrics(experiment: Experiment) -> dict[str, dict[str, str]]:
    """Return table -> heading -> the name by which `arena.rescore` reports the metric.

    Raises:
        UnknownNameError: A task or a metric is unknown.
        DataError: A metric does not go with its task.
    """
    reported: dict[str, dict[str, str]] = {}
    for name, table in experiment.tables.items():
        place: Place = ("tables", name, "task")
        try:
            stages = TASKS.get(table.task).stages
            for heading, metric in table.metrics.items():
                place = ("tables", name, "metrics", heading)
                if metric.startswith(JUDGED):
                    _check_judged(table.task, metric)
                    reported.setdefault(name, {})[heading] = metric
                    continue
                stage, _, rest = metric.partition(".")
                known = scored_stages(table.task, [rest if stage in stages else metric])
                if metric not in known and len(known) > 1:
                    hint = did_you_mean(metric, known)
                    raise DataError(f"several stages are scored by {clip(metric)}.{hint}")
                column = metric if metric in known else next(iter(known))
                reported.setdefault(name, {})[heading] = column
        except ArenaError as error:
            raise experiment.locate(place, error) from None
    return reported


def _check_judged(task: str, metric: str) -> None:
    from arena.judging.statements import NUMBERS

    name = metric.removeprefix(JUDGED)
    if name not in NUMBERS:
        raise UnknownNameError(f"a judge reports no {clip(name)}.{did_you_mean(name, NUMBERS)}")
    if all(stage.answer != "report" for _, stage in stages_of(task)):
        raise DataError(f"{clip(metric)} judges a report, and the task {task!r} has none.")


def _make_cell(
    experiment: Experiment,
    tasks: TaskSet,
    prepare: bool,
    task: str,
    place: Place,
    row: Row,
    column: str,
    surveys: list[str],
) -> Cell:
    """Return the cell of a row in a column."""
    found, env_options = None, dict(row.env_options)
    if row.found is not None:
        if not TASKS.get(task).references:
            refused: ArenaError = DataError(f"the task {task!r} begins with no papers.")
            raise experiment.locate((*place, "found"), refused)
        found = directory_of(FINDS, row.found, experiment.finder(row.found)[1].retriever or column)
        env_options.setdefault("references", "found")
    try:
        agent, options, asks = _agent(experiment, row)
        factory = AgentFactory(agent, options, task, tasks)
        if prepare:
            factory.prepare()
    except ArenaError as error:
        raise experiment.locate((*place, "agent"), error) from None
    engines = experiment.retrievers
    record = {
        "run": directory_of(task, place[-1], column),
        "task": task,
        "row": place[-1],
        "column": column,
        "agent": factory.name,
        "agent_options": {n: options[n] for n in options if n not in factory.kind.unrecorded},
        "retriever": engines[column].retriever,
        "retriever_options": engines[column].options,
        "retrievers": [engines[n].retriever if n in engines else n for n in row.retrievers],
        "env_options": env_options,
        "found": found,
    }
    try:
        sha256_json(record)
    except TypeError as problem:
        refused = DataError(f"they must be what JSON can hold: {problem}.")
        raise experiment.locate((*place, "options"), refused) from None
    return Cell(record, agent, options, asks, surveys)


def _agent(experiment: Experiment, row: Row) -> tuple[str | type[Agent], dict[str, Any], bool]:
    """Return the agent of a row, its options, and whether it asks a language model."""
    from arena.llm import LLMAgent

    agent = row.agent
    if isinstance(agent, str) and agent != ORACLE:
        file, _, name = agent.rpartition(":")  # beside the configuration
        agent = f"{experiment.source.folder / file}:{name}" if file.endswith(".py") else agent
    kind = AGENTS.get(agent) if isinstance(agent, str) and agent != ORACLE else agent
    if not (isinstance(kind, type) and issubclass(kind, LLMAgent)):
        return agent, row.options, False
    options = experiment.llm | row.options
    known = inspect.signature(LLMAgent).parameters
    for name in experiment.llm:
        if name not in known or name == "seed":
            raise DataError(f"llm.{name}: no such option.{did_you_mean(name, known)}")
    if "model" not in options:
        raise DataError("it asks a language model: name one as `model` under `llm`.")
    return agent, options, True


def _surveys(asked: list[str] | int | None, tasks: TaskSet, task: str, prompt: str) -> list[str]:
    """Return the surveys that are played: those with the prompt and the mind-map needed."""
    counted, what = with_topic(tasks, prompt), "prompt"
    if "mind_map" in kinds_of_answers(task):
        counted = [survey_id for survey_id in counted if can_score(task, tasks, survey_id)]
        what = "mind-map"
    if isinstance(asked, list):
        asked = [survey for survey in choose_surveys(tasks, asked) if survey in counted]
    if not counted or asked == []:
        raise NoLabelsError(
            f"none of the surveys has a {what}, which the task {task!r} needs. Leave its tables "
            f"out (--tables), or give the surveys of the corpus a `{what.replace('-', '_')}`."
        )
    return play_order(tasks, choose_surveys(tasks, asked, counted))


def _check_indexes(experiment: Experiment, corpus: Corpus, cells: dict[str, Cell]) -> None:
    """Refuse before the first episode what would stop the grid at its last column."""
    columns = {
        name: cell.record["column"]
        for cell in cells.values()
        for name in (cell.record["retriever"], *cell.record["retrievers"])
    }
    missing: dict[str, tuple[Path, ...]] = {}
    for name, column in columns.items():
        try:
            corpus.index_sha256(name)
        except CorpusError as error:
            missing[f"{column}: {error}"] = error.parts
        except (UnknownNameError, DataError) as error:
            raise experiment.locate(("retrievers", column), error) from None
    if missing:
        raise CorpusError(
            f"{' '.join(missing)} Or name other engines with --retriever LABEL=NAME.",
            *itertools.chain.from_iterable(missing.values()),
        )


def state_of(
    output: Path, cell: Cell, experiment: Experiment, sha256: Mapping[str, str]
) -> tuple[int, bool, list[str]]:
    """Return how far a cell is, without opening an engine.

    Args:
        output: Directory of the experiment.
        cell: The cell.
        experiment: The configuration.
        sha256: Hashes of ``corpus`` and ``tasks``.

    Returns:
        Number of episodes played, whether the run is complete, and the names of the settings in
        which the run in its directory is known to differ.

    Raises:
        DataError: The environment does not take its options.
    """
    record = cell.record
    try:
        run = OpenedRun(output / record["run"])
    except (CorpusError, UnknownNameError):  # none yet, or one that cannot be continued
        return 0, False, []
    manifest, same = run.manifest, ("task", "agent", "agent_options", "retriever")
    played = {key: manifest.get(key) for key in (*same, "seed", "surveys")}
    played |= {key: manifest["sha256"].get(key) for key in sha256}
    wanted = {key: record[key] for key in same}
    wanted |= {"surveys": cell.surveys, "seed": experiment.seed, **sha256}
    for settings, config in (
        (played, EnvConfig.of(run.task, manifest["budget"] | manifest["environment"])),
        (wanted, EnvConfig.of(record["task"], cell.settings(experiment))),
    ):
        settings |= config.limits | recorded(config, encoder_of(config))
        # The papers that an episode begins with change with the run that finds them.
        settings["found"] = config.found is not None
    wanted["found"] |= record["found"] is not None
    differs = [
        key
        for key in {**wanted, **played}
        if sha256_json(wanted.get(key)) != sha256_json(played.get(key))
    ]
    done = run.path.read_bytes().count(b"\n")
    return done, run.files is not None, differs
