"""Make the agent of each episode."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from arena.agents import AGENTS, Agent
from arena.errors import DataError, clip, did_you_mean
from arena.runs.oracle import Oracle
from arena.tasks import TaskSet, ideal_answers

ORACLE = "oracle"
"""The one name that is no registered agent: it is given the labels."""


class Players(NamedTuple):
    """The agents of one run.

    Attributes:
        name: for the records of the run.
        kind: their class.
        prompts: their prompt templates.
        prepare: raises what would keep them from playing, such as a missing key.
        make: (survey id, seed of the episode) -> a fresh agent.
    """

    name: str
    kind: type[Agent]
    prompts: dict[str, str]
    prepare: Callable[[], None]
    make: Callable[[str, int], Agent]


def players(
    agent: str | type[Agent], options: dict[str, Any], task: str, tasks: TaskSet
) -> Players:
    """Return what makes the agents of a run.

    Args:
        agent: a registered name, ``"oracle"``, or a subclass of `Agent`.
        options: keyword arguments for the agent, besides its seed.
        task: what is played.
        tasks: where the oracle, and nobody else, gets its labels.

    Raises:
        UnknownNameError: if no agent has that name.
        DataError: if `agent` is neither, or takes no such options.
    """
    if agent == ORACLE:
        if options:
            raise DataError(f"the oracle takes no options, but got {clip(options)}.")
        return Players(
            ORACLE,
            Oracle,
            {},
            lambda: None,
            lambda survey_id, seed: Oracle(ideal_answers(task, tasks, survey_id), seed=seed),
        )
    kind = AGENTS.get(agent) if isinstance(agent, str) else agent
    if not (isinstance(kind, type) and issubclass(kind, Agent)):
        raise DataError(f"agent={clip(agent)}: give a registered name or a subclass of Agent.")
    name = agent if isinstance(agent, str) else kind.__qualname__
    if (known := _named(kind)) is not None:
        _check(name, known, options)
    try:
        first = kind(seed=0, **options)
    except TypeError as error:
        _check(name, _handed_on(kind), options)
        raise DataError(
            f"agent {name!r} does not take seed=0 and the options {clip(options)}: {error}."
        ) from None
    return Players(
        name, kind, first.prompts(), first.prepare, lambda _, seed: kind(seed=seed, **options)
    )


def _named(kind: type) -> list[str] | None:
    """Return the options that a class names; None if it takes others, too."""
    parameters = inspect.signature(kind).parameters.values()
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return None
    return [parameter.name for parameter in parameters if parameter.name != "seed"]


def _handed_on(kind: type[Agent]) -> list[str]:
    """Return the options that the class names and those that it builds on do."""
    found: set[str] = set()
    for base in kind.__mro__[:-1]:
        if "__init__" in vars(base):
            found |= {
                parameter.name
                for parameter in inspect.signature(base).parameters.values()
                if parameter.kind is not parameter.VAR_KEYWORD
            }
    return sorted(found - {"seed"})


def _check(name: str, known: list[str], options: dict[str, Any]) -> None:
    """Refuse an option that the agent does not have."""
    for option in options:
        if option not in known:
            hint = did_you_mean(option, known) if known else " It has none."
            raise DataError(f"the agent {name!r} has no option {clip(option)}.{hint}")
