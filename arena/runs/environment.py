"""The environment of a run: what its manifest records of it."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import gymnasium

from arena.corpus import Corpus
from arena.corpus.digests import TITLE_ABSTRACT
from arena.encoders import ENCODERS, promises_bits
from arena.envs import EnvConfig, starting_papers
from arena.kit.code import code_sha256
from arena.kit.files import sha256_json
from arena.kit.lazy import versions
from arena.metrics import Metric
from arena.plugins import Plugin, origin_of
from arena.rewards import MetricReward
from arena.tasks import Task, TaskSet, needs_of

Resolved = tuple[str, str, Any]
"""Kind and name of something that a run uses, and its class or function."""


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


def papers_of_run(
    config: EnvConfig, corpus: Corpus, tasks: TaskSet, topics: Sequence[str]
) -> dict[str, list[str]]:
    """Return topic id -> the papers that its episode begins with, from the run in `config`."""
    source = starting_papers("run", config.start_from, corpus)
    assert source is not None
    source.check(tasks)
    return {
        topic_id: source.papers(
            tasks, corpus.at(tasks.topic(topic_id).date, exclude=[topic_id]), topic_id
        )
        for topic_id in topics
    }


def encoder_of(config: EnvConfig, metrics: Sequence[Metric] = ()) -> str | None:
    """Return the encoder if it compares anything in a run; `metrics` are reported besides."""
    paid = [each.metric for each in config.rewards if isinstance(each, MetricReward)]
    needs = needs_of([*config.resolved_task.own_metrics, *metrics, *paid])
    return config.encoder if "encoder" in needs else None


def exact(config: EnvConfig, corpus: Corpus) -> bool:
    """Return whether hits get the same scores, to the last bit, on every machine."""
    engines = [corpus.retriever(config.retriever, **config.retriever_options)]
    engines += [corpus.retriever(name) for name in config.retrievers]
    return all(promises_bits(engine.config) for engine in engines)


def recorded(config: EnvConfig, encoder: str | None) -> dict[str, Any]:
    """Return the settings for the manifest: a hash in place of the starting papers."""
    kept = config.environment | {"encoder": encoder}
    if config.start_from is not None:
        kept["start_from"] = {"sha256": sha256_json(config.start_from)}
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
        "environment": code_sha256(
            "arena.runs", *(item for _, _, item in resolved(env, corpus, encoder))
        ),
    }
    if config.retrievers:
        digests["retrievers"] = {name: corpus.index_sha256(name) for name in config.retrievers}
    if config.paper_text != TITLE_ABSTRACT:
        digests["input"] = corpus.digests(config.paper_text).sha256
    if read := [reward.sha256 for reward in config.rewards if reward.sha256]:
        digests["reward files"] = read
    return digests


def resolved(env: gymnasium.Env[Any, Any], corpus: Corpus, encoder: str | None) -> list[Resolved]:
    """Return all that an environment consists of and that has a name, for hashes and manifests."""
    config: EnvConfig = env.unwrapped.config  # type: ignore[attr-defined]
    task: Task = config.resolved_task
    engines = [corpus.retriever(config.retriever, **config.retriever_options)]
    engines += [corpus.retriever(name) for name in config.retrievers]
    paid = [each.metric for each in config.rewards if isinstance(each, MetricReward)]
    tools = env.unwrapped.action_space.tools  # type: ignore[attr-defined]
    found: list[Resolved] = [("environment", task.environment_id, type(env.unwrapped))]
    found += [("task", each.name, each) for each in (type(task), *task.declared)]
    found += [("answer", kind.name, type(kind)) for kind in task.kinds]
    readers = {reader: None for kind in task.kinds for reader in kind.readers()}
    found += [("reader", reader.__name__, reader) for reader in readers]
    found += [
        ("metric", metric.name.partition("@")[0], metric.score)
        for metric in (*task.own_metrics, *paid)
    ]
    found += [
        ("reward", name, type(reward))
        for name, reward in zip(config.reward.split("+"), config.rewards, strict=True)
        if not isinstance(reward, MetricReward)
    ]
    found += [("tool", name, tool.function) for name, tool in tools.items()]
    for engine in engines:
        found += [
            ("retriever", getattr(kind, "registered_name", kind.__name__.lower)(), kind)
            for kind in engine.classes()
        ]
    return found + ([] if encoder is None else [("encoder", encoder, ENCODERS.get(encoder))])


def plugins_of(items: Iterable[Resolved]) -> list[dict[str, Any]]:
    """Return the plug-ins that these come from, as manifests record them, with ``KIND NAME``s."""
    names: dict[Plugin, dict[str, None]] = {}
    for kind, name, item in items:
        if (plugin := origin_of(item)) is not None and kind != "environment":
            names.setdefault(plugin, {})[f"{kind} {name}"] = None
    found = [plugin.to_json() | {"names": [*names[plugin]]} for plugin in names]
    return sorted(found, key=lambda each: str(sorted(each.items(), key=str)))
