"""The environment of a run: what its manifest records of it."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium

from arena._internal.code import code_sha256
from arena._internal.files import sha256_json
from arena._internal.lazy import versions
from arena.corpus import Corpus
from arena.corpus.digests import TITLE_ABSTRACT
from arena.encoders import ENCODERS
from arena.envs import EnvConfig, starting_papers
from arena.rewards import MetricReward, make_rewards
from arena.tasks import (
    TASKS,
    TaskSet,
    environment_id,
    functions_of,
    needs_of,
    own_metrics,
)

_UNRECORDED = ("description", "references")  # a text for lists; a setting of the environment


@cache
def machine() -> dict[str, str | None]:
    """Return what a run depends on outside of its inputs: recorded, and never compared."""
    here, commit = Path(__file__), None
    try:  # that of a clone of this project, not of one that a virtual environment lies in
        for words in (["ls-files", "--error-unmatch", here.name], ["rev-parse", "HEAD"]):
            command = ["git", "-C", str(here.parent), *words]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            commit = done.stdout.strip()
    except (OSError, subprocess.CalledProcessError):  # no git, or no clone
        commit = None
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        **versions("numpy", "numba"),
        "commit": commit,
    }


def definition_of(task: str) -> dict[str, Any]:
    """Return the task as manifests record it: all that shapes what is played and scored."""
    fields = TASKS.get(task)._asdict() | {"environment": environment_id(task)}
    return {name: value for name, value in fields.items() if name not in _UNRECORDED}


def papers_of_run(
    config: EnvConfig, corpus: Corpus, tasks: TaskSet, surveys: Sequence[str]
) -> dict[str, list[str]]:
    """Return survey id -> the papers that its episode begins with, from the run in `config`."""
    source = starting_papers("found", config.found, corpus)
    assert source is not None
    source.check(tasks)
    return {
        survey_id: source.papers(
            tasks, corpus.at(tasks.survey(survey_id).date, exclude=[survey_id]), survey_id
        )
        for survey_id in surveys
    }


def encoder_of(config: EnvConfig, metrics: Sequence[str] = ()) -> str | None:
    """Return the encoder if it compares anything in a run; `metrics` are reported besides."""
    paid = [
        reward.metric.name
        for reward in make_rewards(config.reward, config.reward_options)
        if isinstance(reward, MetricReward)
    ]
    needs = needs_of([*own_metrics(config.task), *metrics, *paid])
    return config.encoder if "encoder" in needs else None


def recorded(config: EnvConfig, encoder: str | None) -> dict[str, Any]:
    """Return the settings for the manifest: a hash in place of the starting papers."""
    kept = config.environment | {"encoder": encoder}
    if config.found is not None:
        kept["found"] = {"sha256": sha256_json(config.found)}
    return {name: value for name, value in kept.items() if value is not None}


def hashes(
    env: gymnasium.Env[Any, Any], corpus: Corpus, tasks: TaskSet, encoder: str | None
) -> dict[str, Any]:
    """Return the hashes of all that shapes an observation, a reward or a metric."""
    config: EnvConfig = env.unwrapped.config  # type: ignore[attr-defined]
    digests: dict[str, Any] = {
        "corpus": corpus.sha256,
        "tasks": tasks.sha256,
        "index": corpus.index_sha256(config.retriever),
        "environment": code_sha256("arena.runs", *code_of(env, corpus, encoder)),
    }
    if config.retrievers:
        digests["retrievers"] = {name: corpus.index_sha256(name) for name in config.retrievers}
    if config.show != TITLE_ABSTRACT:
        digests["input"] = corpus.digests(config.show).sha256
    rewards = make_rewards(config.reward, config.reward_options)
    if read := [reward.sha256 for reward in rewards if reward.sha256]:
        digests["reward files"] = read
    return digests


def code_of(env: gymnasium.Env[Any, Any], corpus: Corpus, encoder: str | None) -> list[Any]:
    """Return the classes and functions that an environment consists of, for `code_sha256`."""
    config: EnvConfig = env.unwrapped.config  # type: ignore[attr-defined]
    engines = [corpus.retriever(config.retriever, **config.retriever_options)]
    engines += [corpus.retriever(name) for name in config.retrievers]
    rewards = make_rewards(config.reward, config.reward_options)
    items: list[Any] = [type(env.unwrapped)]
    items += [kind for engine in engines for kind in engine.classes()]
    items += functions_of(own_metrics(config.task))
    items += [type(reward) for reward in rewards]
    items += [reward.metric.score for reward in rewards if isinstance(reward, MetricReward)]
    tools = env.unwrapped.action_space.tools  # type: ignore[attr-defined]
    items += [tool.function for tool in tools.values()]
    return items + ([] if encoder is None else [ENCODERS.get(encoder)])
