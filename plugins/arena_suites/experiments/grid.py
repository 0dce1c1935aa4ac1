"""From a configuration and a corpus to the runs that it needs, everything checked beforehand."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from arena.agents import AGENTS, Agent
from arena.corpus import Corpus
from arena.encoders import ENCODERS
from arena.envs import EnvConfig
from arena.errors import (
    CorpusError,
    DataError,
    NoLabelsError,
    UnknownNameError,
    clip,
    did_you_mean,
)
from arena.kit.options import check_names, check_options, parameters_of
from arena.llm import LLMAgent
from arena.mindmap.extractors import EXTRACTORS
from arena.runs.players import ORACLE, AgentFactory
from arena.runs.trajectories import TRAJECTORIES
from arena.tasks import TaskSet, choose_topics, open_task, play_order, with_text
from arena_suites.experiments.config import FINDS, Experiment, Row, directory_of
from arena_suites.experiments.judges import judge_of
from corpus_builder.settings import Place

JUDGED = "judge."
"""Prefix of the numbers that the configuration's judge reports; see `arena_suites.judging`."""


class Cell(NamedTuple):
    """One run of the grid; `row` and `column` are labels.

    An episode begins with the papers of the run `start_from`, if there is one.
    """

    row: str
    column: str
    agent: str | type[Agent]
    options: dict[str, Any]
    config: EnvConfig
    start_from: str | None
    topics: list[str]
    player: AgentFactory

    @property
    def asks(self) -> bool:
        """Whether the agent asks a language model."""
        return _asks(self.player.kind)

    @property
    def record(self) -> dict[str, Any]:
        """The settings that distinguish it from other cells, as JSON, without paths and hosts."""
        unrecorded = self.player.kind.unrecorded
        return {
            "task": self.config.task,
            "row": self.row,
            "column": self.column,
            "agent": self.player.name,
            "agent_options": {n: v for n, v in self.options.items() if n not in unrecorded},
            **self.config.environment,
            "budget": self.config.limits,
            "start_from": self.start_from,
        }

    def state(self, output: Path) -> tuple[int, str]:
        """Return how many episodes were played, and ``done``, ``begun`` or ``to do``."""
        directory = output / directory_of(self.config.task, self.row, self.column)
        path = directory / TRAJECTORIES
        done = path.read_bytes().count(b"\n") if path.is_file() else 0
        finished = done and (directory / "metrics.json").is_file()
        return done, "done" if finished else "begun" if done else "to do"


def make_grid(experiment: Experiment, corpus: Corpus, prepare: bool = False) -> dict[str, Cell]:
    """Return the runs that the tables need: directory -> cell, in the order of playing.

    Agents without a language model come first, and what another run needs before that run. With
    `prepare` every agent must be able to play now, with key and package.
    """
    _check_judge(experiment)
    for key, registry in (("encoder", ENCODERS), ("extractor", EXTRACTORS)):
        with experiment.located(key):
            registry.find(getattr(experiment, key))
    with experiment.located("extractor_options"):
        name = experiment.extractor
        check_options(f"extractor {name}", EXTRACTORS.find(name), experiment.extractor_options)
    tasks = TaskSet(corpus)
    topics = functools.cache(functools.partial(_topics, experiment.topics, tasks))
    cells: dict[str, Cell] = {}
    for task, place, row, column, found in _wanted(experiment):
        with experiment.located(*place):
            config = _config(experiment, task, row, column)
            agent, options = _agent(experiment, row)
            player = AgentFactory(agent, options, config.resolved_task, tasks)
            if prepare:
                player.prepare()
        played = topics(task, config.prompt or "title")
        cell = Cell(place[-1], column, agent, options, config, found, played, player)
        key = directory_of(task, cell.row, column)
        if cells.setdefault(key, cell).record != cell.record:
            with experiment.located(*place):
                raise DataError(
                    f"another run has the directory {clip(key)} and other options. Give one of "
                    "them another label."
                )
    _check_indexes(experiment, corpus, cells)
    ordered: dict[str, Cell] = {}
    for key, cell in sorted(cells.items(), key=lambda item: item[1].asks):
        for each in (cell.start_from, key):
            if each is not None:
                ordered.setdefault(each, cells[each])
    return ordered


def _wanted(experiment: Experiment) -> Iterator[tuple[str, Place, Row, str, str | None]]:
    """Yield task, place, row, column and `Cell.start_from` of each run, after that one."""
    for place, row in experiment.placed_rows():
        table = experiment.tables[place[1]]
        for column in experiment.engines_of(table, row):
            found = None
            if row.start_from is not None:
                finder = experiment.finder(row.start_from)
                its = finder.retriever or column
                found = directory_of(FINDS, row.start_from, its)
                yield FINDS, (*place, row.start_from), finder, its, None
            yield table.task, place, row, column, found


def _config(experiment: Experiment, task: str, row: Row, column: str) -> EnvConfig:
    """Return the settings of the environment of a row in a column."""
    engines = experiment.retrievers
    further = [engines[name].retriever if name in engines else name for name in row.retrievers]
    writes = open_task(task).writes
    limits = {n: limit for n, limit in experiment.budget.items() if writes or n != "max_written"}
    settings = {
        "retriever": engines[column].retriever,
        "retriever_options": engines[column].options,
        "retrievers": further,
        "encoder": experiment.encoder,
        **limits,
        **({"references": "run"} if row.start_from is not None else {}),
        **row.env_options,
    }
    return EnvConfig.from_settings(task, settings)


def reported_metrics(experiment: Experiment) -> dict[str, dict[str, str]]:
    """Return table -> heading -> the name by which `arena.rescore` reports the metric."""
    reported: dict[str, dict[str, str]] = {}
    for name, table in experiment.tables.items():
        with experiment.located("tables", name, "task"):
            open_task(table.task)
        for heading, metric in {**table.metrics, **table.noted}.items():
            key = "metrics" if heading in table.metrics else "noted"
            with experiment.located("tables", name, key, heading):
                find = _judged_name if metric.startswith(JUDGED) else _scored_name
                reported.setdefault(name, {})[heading] = find(table.task, metric)
    return reported


def _check_judge(experiment: Experiment) -> None:
    """Refuse options of a judge that could not read the first finished run."""
    for name, reported in reported_metrics(experiment).items():
        judge = judge_of(open_task(experiment.tables[name].task))
        if judge and experiment.judge and any(m.startswith(JUDGED) for m in reported.values()):
            with experiment.located("judge"):
                judge.check(experiment.judge, "--judge-option")


def _scored_name(task: str, metric: str) -> str:
    stage, _, rest = metric.partition(".")
    opened = open_task(task)
    known = opened.columns(opened.find_metrics([rest if opened.stage(stage) else metric]))
    if metric not in known and len(known) > 1:
        hint = did_you_mean(metric, known)
        raise DataError(f"several stages are scored by {clip(metric)}.{hint}")
    return metric if metric in known else next(iter(known))


def _judged_name(task: str, metric: str) -> str:
    name, judge = metric.removeprefix(JUDGED), judge_of(open_task(task))
    if judge is None:
        raise DataError(f"{clip(metric)} judges a report or a mind-map; {task!r} has none.")
    if name not in judge.numbers:
        hint = did_you_mean(name, judge.numbers)
        raise UnknownNameError(f"a judge reports no {clip(name)}.{hint}")
    return metric


def _agent(experiment: Experiment, row: Row) -> tuple[str | type[Agent], dict[str, Any]]:
    """Return the agent of a row and its options, with those of all language models."""
    agent = row.agent
    if agent == ORACLE:
        return agent, row.options
    if isinstance(agent, str):
        file, _, name = agent.rpartition(":")
        beside = experiment.folder / file
        if file.endswith(".py") and not Path(file).is_file() and beside.is_file():
            agent = f"{beside}:{name}"
    if not _asks(AGENTS.find(agent) if isinstance(agent, str) else agent):
        return agent, row.options
    options = experiment.llm | row.options
    check_names("model under `llm`", experiment.llm, parameters_of(LLMAgent).keys() - {"seed"})
    if "model" not in options:
        raise DataError("it asks a language model: name one as `model` under `llm`.")
    return agent, options


def _asks(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, LLMAgent)


def _topics(asked: list[str] | int | None, tasks: TaskSet, task: str, prompt: str) -> list[str]:
    """Return the topics that are played: those with the prompt and the mind-map needed."""
    counted, what = with_text(tasks, prompt), "prompt"
    opened = open_task(task).on(tasks)
    if any(kind.draws_labelled for kind in opened.kinds):
        counted = [topic_id for topic_id in counted if opened.can_score(tasks, topic_id)]
        what = "mind-map"
    if isinstance(asked, list):
        asked = [topic for topic in choose_topics(tasks, asked) if topic in counted]
    if not counted or asked == []:
        raise NoLabelsError(
            f"none of the topics has a {what}, which the task {task!r} needs. Leave its tables "
            f"out (--tables), or give the topics of the corpus a `{what.replace('-', '_')}`."
        )
    return play_order(tasks, choose_topics(tasks, asked, counted))


def _check_indexes(experiment: Experiment, corpus: Corpus, cells: dict[str, Cell]) -> None:
    """Refuse before the first episode what would stop the grid at its last column."""
    columns = {
        name: cell.column
        for cell in cells.values()
        for name in (cell.config.retriever, *cell.config.retrievers)
    }
    missing: dict[str, tuple[Path, ...]] = {}
    for name, column in columns.items():
        try:
            with experiment.located("retrievers", column):
                corpus.index_sha256(name)
        except CorpusError as error:
            missing[str(error)] = error.parts
    if missing:
        raise CorpusError(
            f"{' '.join(missing)} Or name other engines with --set retrievers.LABEL=NAME.",
            *itertools.chain.from_iterable(missing.values()),
        )
