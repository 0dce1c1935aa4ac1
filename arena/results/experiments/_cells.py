"""A cell: one run of an agent with a retriever, as `arena.run` plays it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from arena._internal.files import sha256_json
from arena.agents import Agent
from arena.results.experiments.config import Engine
from arena.runs.directory import MANIFEST
from arena.runs.environment import FOUND, arguments_of
from arena.runs.trajectories import TRAJECTORIES

RUNS = "runs"


class Cell(NamedTuple):
    """One run of the grid.

    Attributes:
        directory: where it is, relative to the experiment, with ``/``.
        task: what is played.
        label: of the row.
        column: label of the retriever.
        agent: as `arena.run` takes it.
        name: of the agent, as the run records it.
        options: of the agent.
        recorded: those of them that the run records.
        asks: whether the agent asks a language model.
        engine: the retriever.
        retrievers: further engines.
        env_options: of the environment.
        found: directory of the run whose papers an episode begins with, or None.
        surveys: ids.
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

    def told(self) -> dict[str, Any]:
        """Return what tells this run from another one, as JSON; nothing of where it is played."""
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
        done: episodes played.
        finished: whether the run is complete.
        differs: what is known, without playing, to be another than that of the run found there.
    """

    done: int
    finished: bool
    differs: tuple[str, ...]


def state_of(output: Path, cell: Cell, same: Mapping[str, Any]) -> State:
    """Look how far a cell is, without opening an engine.

    Args:
        output: of the experiment.
        cell: the cell.
        same: key of a run's manifest -> value that all runs of this experiment have; and the
            ``encoder`` and ``budget`` that they are given.

    Raises:
        DataError: if the environment cannot have such options.
    """
    directory = output / cell.directory
    try:
        manifest = json.loads((directory / MANIFEST).read_bytes())
        found = {
            "task": manifest["task"], "agent": manifest["agent"],
            "agent_options": manifest["agent_options"], "retriever": manifest["retriever"],
            "seed": manifest["seed"], "surveys": manifest["surveys"],
            "corpus": manifest["sha256"]["corpus"], "tasks": manifest["sha256"]["tasks"],
            **manifest["budget"], **_comparable(manifest["environment"]),
        }  # fmt: skip
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return State(0, False, ())
    wanted = {
        "task": cell.task, "agent": cell.name, "agent_options": cell.recorded,
        "surveys": cell.surveys, **_environment(cell, same["encoder"], same["budget"]),
        **{key: value for key, value in same.items() if key not in ("encoder", "budget")},
    }  # fmt: skip
    differs = tuple(
        key
        for key in {**wanted, **found}
        if sha256_json(wanted.get(key)) != sha256_json(found.get(key))
    )
    try:
        done = (directory / TRAJECTORIES).read_bytes().count(b"\n")
    except OSError:
        done = 0
    return State(done, isinstance(manifest.get("files"), dict), differs)


def _environment(cell: Cell, encoder: str, budget: Mapping[str, int]) -> dict[str, Any]:
    """Return what a run of `cell` will record of its environment and budget."""
    arguments = arguments_of(
        cell.task,
        retriever=cell.engine.retriever,
        retriever_options=cell.engine.options,
        retrievers=cell.retrievers,
        reward=None,
        reward_options=None,
        encoder=encoder,
        options=cell.env_options,
        budget=budget,
    )
    return _comparable(arguments | ({} if cell.found is None else {FOUND: cell.found}))


def _comparable(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with, in place of the papers found, whether there are any."""
    has_found = arguments.get(FOUND) is not None
    return {key: value for key, value in arguments.items() if key != FOUND} | {FOUND: has_found}
