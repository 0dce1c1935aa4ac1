"""Play the recorded actions of a run again, and stop where anything differs."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium
import orjson

from arena.corpus import Corpus
from arena.errors import CorpusError, UnknownNameError, clip, did_you_mean
from arena.kit.files import sha256_json
from arena.runs.checking import EQUAL, alike
from arena.runs.directory import OpenedRun
from arena.runs.episodes import PlayedStep, play, record_end, record_step
from arena.runs.trajectories import TRAJECTORIES, plain
from arena.tools import SCORE

_SHOWN = 300
_OBSERVATION = "the observation"


class ReplayDifference(NamedTuple):
    """Where a replay first differs from its run; step 0 is the reset, whose action is None.

    Of an observation the recorded value is its SHA-256, or the error in it.
    """

    topic_id: str
    step: int
    action: Any
    what: str
    expected: Any
    found: Any

    def __str__(self) -> str:
        at = "reset" if self.step == 0 else f"action {_text(self.action)}"
        digest = isinstance(self.expected, str) and self.what == _OBSERVATION
        expected = f"one with SHA-256 {self.expected[:12]}" if digest else _text(self.expected)
        return (
            f"topic {self.topic_id!r}, step {self.step} ({at}): "
            f"{self.what} differs: expected {expected}, found {_text(self.found)}"
        )


def replay_steps(
    run: str | Path,
    topic_id: str,
    corpus: Corpus | str | Path,
    tasks: str | Path | None = None,
    instead: Mapping[int, Any] | None = None,
) -> Iterator[PlayedStep]:
    """Play the recorded actions of one episode again; yield its reset, then every step.

    `instead` maps numbers of steps, from 1, to actions that are played in their place; an episode
    that does not end with its last action is then finished. For the other
    arguments see `arena.verify`.
    """
    recorded = OpenedRun(run)
    records = {record["topic_id"]: record for record in recorded.episodes()}
    if topic_id not in records:
        raise UnknownNameError(
            f"{str(run)!r} has no episode of topic {clip(topic_id)}."
            f"{did_you_mean(topic_id, records)}"
        )
    if recorded.files is not None:
        recorded.refuse_changed(TRAJECTORIES)
    corpus, _ = recorded.open_corpus(corpus, tasks)
    taken = [step["action"] for step in records[topic_id]["steps"]]
    if instead:
        taken = [instead.get(number, action) for number, action in enumerate(taken, 1)]
        taken += [{"tool": "finish", "arguments": {}}]
    actions = iter(taken)
    with closing(recorded.environment(corpus, [topic_id])) as env:
        episode = play(env, lambda _: next(actions), topic_id, records[topic_id]["seed"])
        for _, step in zip([None, *taken], episode, strict=False):  # taken first, see below
            yield step
    if not step.terminated and not step.truncated:
        raise CorpusError(
            f"the episode of topic {clip(topic_id)} does not end with its last action: "
            f"{str(run)!r} "
            "or the code was changed. `arena verify` finds where."
        )


def replay_episodes(
    recorded: OpenedRun,
    corpus: Corpus,
    topics: Collection[str] | None = None,
    every: bool = False,
) -> Iterator[tuple[dict[str, Any], list[PlayedStep]]]:
    """Play the complete episodes of a run again; yield each record with its reset and its steps.

    `topics` names some of them; the first of each is played, or `every` repeat. Raise CorpusError
    where an episode differs from its record.
    """
    played = recorded.manifest["topics"]
    with closing(recorded.environment(corpus, played)) as env:
        for record in recorded.episodes(every):
            if topics is not None and record["topic_id"] not in topics:
                continue
            difference, steps = replay_episode(env, record, record["seed"])
            if difference is not None:
                raise CorpusError(f"{str(recorded.directory)!r} does not replay: {difference}.")
            yield record, steps


def replay_episode(
    env: gymnasium.Env[Any, Any],
    record: dict[str, Any],
    own_seed: int,
    deadline: float = math.inf,
    tolerance: float = 0.0,
) -> tuple[ReplayDifference | None, list[PlayedStep]]:
    """Return the first difference in an episode, if any, and the reset and steps played.

    Numbers that an encoder gives may differ by `tolerance`. Raise TimeoutError once
    `time.monotonic` is past the `deadline`.
    """
    topic_id, steps = record["topic_id"], record["steps"]
    if record["seed"] != own_seed:
        return ReplayDifference(topic_id, 0, None, "the seed", record["seed"], own_seed), []
    actions = iter([step["action"] for step in steps])
    episode = play(env, lambda _: next(actions), topic_id, own_seed)
    played: list[PlayedStep] = []
    # The records come first: when they end, no further action is asked for.
    for number, (before, now) in enumerate(zip([record, *steps], episode, strict=False)):
        played.append(now)
        if time.monotonic() > deadline:
            raise TimeoutError
        if number == 0:
            budget = dict(now.observation["budget"])
        for what, expected, found in _compared(before, now, record, number, budget):
            if not alike(expected, found, tolerance):
                return ReplayDifference(topic_id, number, now.action, what, expected, found), played
    return None, played


def _compared(
    before: dict[str, Any],
    now: PlayedStep,
    record: dict[str, Any],
    number: int,
    budget: dict[str, int],
) -> Iterator[tuple[str, Any, Any]]:
    """Yield (what is compared, recorded value, value now) for a step; number 0 is the reset."""
    expected = before["observation_sha256"]
    if expected not in (sha256_json(now.observation), _rounded(now.observation, before)):
        error = {"error": before["error"]} if "error" in before else expected
        yield _OBSERVATION, error, now.observation
    if number == 0:
        return
    step = plain(record_step(now))
    for name in ("error", "reward", "reward_terms", "gain", "defect"):
        yield f"the {name.replace('_', ' ')}", before.get(name), step.get(name)
    last = number == len(record["steps"])
    yield "terminated", last and not record["truncated"], now.terminated
    yield "truncated", last and record["truncated"], now.truncated
    if last:
        end = plain(record_end(budget, now))
        yield "whether its scoring failed", "failed" in record, "failed" in end
        for name in ("spent", "metrics", "answers", "unseen", "digests", "seen"):
            what = {"spent": "what was spent", "unseen": "the share of unseen ids"}.get(name, name)
            yield what, record.get(name), end.get(name)


def _rounded(observation: Mapping[str, Any], before: Mapping[str, Any]) -> str | None:
    """Return the hash of an observation with the recorded scores of its hits in place of its own.

    None where none are recorded, or some differ by more than `EQUAL`.
    """
    then, result = before.get("scores"), observation["result"]
    if not then or not alike(then, [*map(float, SCORE.findall(result))], EQUAL):
        return None
    texts = map(bytes.decode, map(orjson.dumps, then))
    return sha256_json(dict(observation) | {"result": SCORE.sub(lambda _: next(texts), result)})


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=True)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
