"""The environment of a run: made from arguments, recorded, and made again from the record."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
from gymnasium.envs.registration import load_env_creator

from arena._internal.code import code_sha256
from arena._internal.files import sha256_json
from arena.corpus import Corpus
from arena.encoders import ENCODERS
from arena.envs._given import given
from arena.errors import DataError, clip, did_you_mean
from arena.retrieval import Retriever, parse_name
from arena.rewards import make_rewards
from arena.tasks import DEFAULT_BUDGET, TASKS, TaskSet, measures, stages_of, tools_of
from arena.tools import TOOLS

FOUND = "found"
"""The one argument of an environment that may name a file; its content goes into the run."""

_ELSEWHERE = ("corpus", "surveys", "render_mode")
_GYMNASIUM = tuple(inspect.signature(gymnasium.make).parameters)  # its own, such as time limits
_TYPES: dict[str, type] = {
    "retriever": str, "retriever_options": dict, "retrievers": list, "reward": str,
    "reward_options": dict,
}  # fmt: skip


def has_mind_maps(task: str) -> bool:
    """Return whether a mind-map is handed in at some stage of a task."""
    return any(stage.answer == "mind_map" for _, stage in stages_of(task))


def recorded_types(task: str) -> dict[str, type]:
    """Return the arguments that every run of a task records, and their types."""
    return _TYPES | ({"encoder": str} if has_mind_maps(task) else {})


def takes_found(task: str) -> bool:
    """Return whether the environment of a task has an argument `FOUND`, or may have it."""
    module, _, name = TASKS.get(task).environment.rpartition(":")
    if module:
        importlib.import_module(module)
    entry: Any = gymnasium.spec(name).entry_point
    creator: Any = load_env_creator(entry) if isinstance(entry, str) else entry
    if isinstance(creator, type):
        inits = [vars(kind).get("__init__") for kind in creator.__mro__]
        return any(FOUND in inspect.signature(init).parameters for init in inits if init)
    parameters = inspect.signature(creator).parameters
    return FOUND in parameters or any(p.kind is p.VAR_KEYWORD for p in parameters.values())


def make_environment(
    task: str, corpus: Corpus, surveys: Sequence[str], arguments: Mapping[str, Any]
) -> gymnasium.Env[Any, Any]:
    """Return the environment of a task; `arguments` are what `recorded_arguments` returns.

    Raises:
        DataError: if the environment takes no such argument.
        CorpusError, UnknownNameError: if one is unusable.
    """
    kind = TASKS.get(task).environment
    for name in arguments:
        if name in (*_ELSEWHERE, *_GYMNASIUM):
            raise DataError(f"the environment {kind} takes no argument {clip(name)} here.")
    try:
        return gymnasium.make(kind, corpus=corpus, surveys=list(surveys), **arguments)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        name = str(error).partition("'")[2].partition("'")[0]
        raise DataError(f"the environment {kind} takes no argument {clip(name)}.") from None


def arguments_of(
    task: str,
    *,
    retriever: str,
    retriever_options: Mapping[str, Any] | None,
    retrievers: Sequence[str],
    reward: str | None,
    reward_options: Mapping[str, Any] | None,
    encoder: str,
    options: Mapping[str, Any] | None,
    budget: Mapping[str, int] | None,
) -> dict[str, Any]:
    """Return all arguments of an environment but corpus and surveys, defaults included.

    Raises:
        UnknownNameError: if the encoder is unknown.
        DataError: if a limit or an option is unknown, or no JSON value.
    """
    ENCODERS.get(encoder)
    for name in budget or {}:
        if name not in DEFAULT_BUDGET:
            raise DataError(f"no limit {clip(name)}.{did_you_mean(name, DEFAULT_BUDGET)}")
    if isinstance(retrievers, str) or not isinstance(retrievers, Sequence):
        raise DataError(f"retrievers={clip(retrievers)}: give a list of names.")
    for name, value in (
        ("retriever_options", retriever_options),
        ("reward_options", reward_options),
        ("env_options", options),
    ):
        if value is not None and not isinstance(value, Mapping):
            raise DataError(f"{name}={clip(value)}: give a mapping of names to values.")
    arguments: dict[str, Any] = {
        "retriever": str(parse_name(retriever)) if isinstance(retriever, str) else retriever,
        "retriever_options": dict(retriever_options or {}),
        "retrievers": list(retrievers),
        "reward": TASKS.get(task).reward if reward is None else reward,
        "reward_options": dict(reward_options or {}),
        **DEFAULT_BUDGET,
        **(budget or {}),
    }
    if has_mind_maps(task):
        arguments["encoder"] = encoder
    for name in options or {}:
        if name in arguments or name in _ELSEWHERE or name == "encoder":
            raise DataError(f"{clip(name)} is no further option of an environment: give it itself.")
    return arguments | dict(options or {})


def what_was_found(
    arguments: Mapping[str, Any], corpus: Corpus, tasks: TaskSet, surveys: Sequence[str]
) -> dict[str, list[str]]:
    """Return the papers that each episode begins with, where the arguments name a run of them.

    Raises:
        DataError: if they name none, or one that has no survey of this corpus.
    """
    source = given(arguments.get("references", "oracle"), arguments[FOUND], corpus)
    assert source is not None
    source.check(tasks)
    return {
        survey_id: source.papers(
            tasks, corpus.at(tasks.survey(survey_id).date, exclude=[survey_id]), survey_id
        )
        for survey_id in surveys
    }


def recorded(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for the manifest: a hash in place of what was found."""
    kept = dict(arguments)
    if kept.get(FOUND) is not None:
        kept[FOUND] = {"sha256": sha256_json(kept[FOUND])}
    try:
        sha256_json(kept)
    except TypeError as error:
        raise DataError(f"the environment's options must be what JSON can hold: {error}.") from None
    return kept


def hashes(
    env: gymnasium.Env[Any, Any], corpus: Corpus, tasks: TaskSet, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the hashes of all that shapes an observation, a reward or a metric."""
    found: dict[str, Any] = {
        "corpus": corpus.sha256,
        "tasks": tasks.sha256,
        "index": corpus.index_sha256(arguments["retriever"]),
        "environment": code_sha256(*code_of(env, corpus, arguments)),
    }
    if arguments["retrievers"]:
        found["retrievers"] = {name: corpus.index_sha256(name) for name in arguments["retrievers"]}
    return found


def engine_of(corpus: Corpus, arguments: Mapping[str, Any]) -> Retriever:
    """Return the opened engine behind ``search``."""
    return corpus.retriever(arguments["retriever"], **arguments["retriever_options"])


def encoder_of(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what shapes the scores of mind-maps; None where there are none."""
    if "encoder" not in arguments:
        return None
    from arena.mindmap import identity

    return identity(arguments["encoder"])


def code_of(
    env: gymnasium.Env[Any, Any], corpus: Corpus, arguments: Mapping[str, Any]
) -> list[Any]:
    """Return the classes and functions that an environment is made of, as `code_sha256` takes."""
    engines = [engine_of(corpus, arguments)]
    engines += [corpus.retriever(name) for name in arguments["retrievers"]]
    rewards = make_rewards(arguments["reward"], arguments["reward_options"])
    kind = type(env.unwrapped)
    task = kind.task_name  # type: ignore[attr-defined]
    items: list[Any] = [kind, *(kind for engine in engines for kind in engine.classes())]
    items += measures(task)
    items += [type(reward) for reward in rewards]
    items += [TOOLS.get(name).function for name in tools_of(task)]
    if "encoder" in arguments:
        items.append(ENCODERS.get(arguments["encoder"]))
    return items
