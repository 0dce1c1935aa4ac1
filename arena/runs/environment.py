"""The environment of a run: make it from arguments, record these, and make it again."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium

from arena._internal.files import code_sha256, sha256_json
from arena.corpus import Corpus
from arena.corpus.digests import TITLE_ABSTRACT
from arena.encoders import ENCODERS
from arena.envs import starting_papers
from arena.errors import DataError, clip, did_you_mean
from arena.mindmap import identity
from arena.retrieval import parse_name
from arena.rewards import REWARDS, make_rewards
from arena.rewards.metric import MetricReward
from arena.tasks import (
    TASKS,
    TaskSet,
    budget_of,
    compares_texts,
    environment_id,
    kinds_of_answers,
    measures,
)
from arena.tools import TOOLS

FOUND = "found"
"""The one argument of an environment that may name a file; the run keeps its content.

Environments of tasks with `references` have it.
"""

_ELSEWHERE = ("corpus", "task", "tasks", "surveys", "render_mode")
_GYMNASIUM = tuple(inspect.signature(gymnasium.make).parameters)  # its own, such as time limits
_UNRECORDED = ("description", "references")  # a text for lists; an argument of the environment
_TYPES: dict[str, type] = {
    "retriever": str, "retriever_options": dict, "retrievers": list, "reward": str,
    "reward_options": dict,
}  # fmt: skip


def recorded_types(task: str) -> dict[str, type]:
    """Return the arguments that every run of a task records, with their types."""
    return _TYPES | ({"encoder": str} if "mind_map" in kinds_of_answers(task) else {})


def definition_of(task: str) -> dict[str, Any]:
    """Return the task as manifests record it: all that shapes what is played and scored."""
    fields = TASKS.get(task)._asdict() | {"environment": environment_id(task)}
    return {name: value for name, value in fields.items() if name not in _UNRECORDED}


def make_environment(
    task: str,
    corpus: Corpus,
    surveys: Sequence[str] | int | None,
    arguments: Mapping[str, Any],
) -> gymnasium.Env[Any, Any]:
    """Return the environment of a task.

    Args:
        task: A registered task.
        corpus: Corpus to play on.
        surveys: Ids of the surveys to play, or how many of the first; None for all.
        arguments: Further arguments, as `arguments_of` returns them.

    Raises:
        DataError: The environment does not take an argument.
        CorpusError, UnknownNameError: An argument is unusable.
    """
    kind = environment_id(task)
    for name in arguments:
        if name in (*_ELSEWHERE, *_GYMNASIUM):
            raise DataError(f"the environment {kind} takes no argument {clip(name)} here.")
    try:
        return gymnasium.make(kind, corpus=corpus, surveys=surveys, **arguments)
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
    encoder: str,
    env_options: Mapping[str, Any] | None,
    budget: Mapping[str, int] | None,
    reward: str | None = None,
    reward_options: Mapping[str, Any] | None = None,
    metrics: Sequence[str] = (),
) -> dict[str, Any]:
    """Return all arguments of an environment except corpus and surveys, defaults included.

    Raises:
        UnknownNameError: The encoder is unknown.
        DataError: A limit or an option is unknown, or is not a JSON value.
    """
    ENCODERS.get(encoder)
    limits = budget_of(task)
    for name in budget or {}:
        if name not in limits:
            raise DataError(f"no limit {clip(name)}.{did_you_mean(name, limits)}")
    if isinstance(retrievers, str) or not isinstance(retrievers, Sequence):
        raise DataError(f"retrievers={clip(retrievers)}: give a list of names.")
    mappings = {
        "retriever_options": retriever_options, "reward_options": reward_options,
        "env_options": env_options,
    }  # fmt: skip
    for name, value in mappings.items():
        if value is not None and not isinstance(value, Mapping):
            raise DataError(f"{name}={clip(value)}: give a mapping of names to values.")
    options = dict(env_options or {})
    if isinstance(options.get("tools"), list | tuple):
        options["tools"] = [TOOLS.resolve(name) for name in options["tools"]]
    reward = TASKS.get(task).reward if reward is None else reward
    if isinstance(reward, str):
        reward = "+".join(REWARDS.resolve(part.strip()) for part in reward.split("+"))
    arguments: dict[str, Any] = {
        "retriever": str(parse_name(retriever)) if isinstance(retriever, str) else retriever,
        "retriever_options": dict(retriever_options or {}),
        "retrievers": list(retrievers),
        "reward": reward,
        "reward_options": dict(reward_options or {}),
        **limits,
        **(budget or {}),
    }
    rewards = make_rewards(reward, reward_options)
    paid = [each.metric for each in rewards if isinstance(each, MetricReward)]
    if "mind_map" in kinds_of_answers(task) or any(map(compares_texts, [*metrics, *paid])):
        arguments["encoder"] = encoder
    for name in options:
        if name in arguments or name in _ELSEWHERE or name == "encoder":
            raise DataError(
                f"{clip(name)} is no further option: give it as an argument of its own."
            )
    return arguments | options


def papers_of_run(
    arguments: Mapping[str, Any], corpus: Corpus, tasks: TaskSet, surveys: Sequence[str]
) -> dict[str, list[str]]:
    """Return survey id -> the papers that its episode begins with, from the run in `arguments`.

    Raises:
        DataError: The arguments name no such run, or one without a survey of this corpus.
    """
    source = starting_papers(arguments.get("references", "oracle"), arguments[FOUND], corpus)
    assert source is not None
    source.check(tasks)
    return {
        survey_id: source.papers(
            tasks, corpus.at(tasks.survey(survey_id).date, exclude=[survey_id]), survey_id
        )
        for survey_id in surveys
    }


def recorded(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments for the manifest: a hash in place of the starting papers."""
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
    digests: dict[str, Any] = {
        "corpus": corpus.sha256,
        "tasks": tasks.sha256,
        "index": corpus.index_sha256(arguments["retriever"]),
        "environment": code_sha256(*code_of(env, corpus, arguments)),
    }
    if arguments["retrievers"]:
        digests["retrievers"] = {
            name: corpus.index_sha256(name) for name in arguments["retrievers"]
        }
    if arguments.get("show", TITLE_ABSTRACT) != TITLE_ABSTRACT:
        digests["input"] = corpus.digests(arguments["show"]).sha256
    return digests


def encoder_of(arguments: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the identity of the encoder that compares headings; None if none are compared."""
    return identity(arguments["encoder"]) if "encoder" in arguments else None


def code_of(
    env: gymnasium.Env[Any, Any], corpus: Corpus, arguments: Mapping[str, Any]
) -> list[Any]:
    """Return the classes and functions that an environment consists of, for `code_sha256`."""
    engines = [corpus.retriever(arguments["retriever"], **arguments["retriever_options"])]
    engines += [corpus.retriever(name) for name in arguments["retrievers"]]
    rewards = make_rewards(arguments["reward"], arguments["reward_options"])
    kind = type(env.unwrapped)
    task = env.unwrapped.task_name  # type: ignore[attr-defined]
    items: list[Any] = [kind, *(kind for engine in engines for kind in engine.classes())]
    items += measures(task)
    items += [type(reward) for reward in rewards]
    items += [reward.function for reward in rewards if isinstance(reward, MetricReward)]
    tools = env.unwrapped.action_space.tools  # type: ignore[attr-defined]
    items += [tool.function for tool in tools.values()]
    if "encoder" in arguments:
        items.append(ENCODERS.get(arguments["encoder"]))
    return items
