"""Record, replay and compare episodes, alone and in vectors."""

from __future__ import annotations

import copy
import itertools
import json
import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from arena.runs.episodes import play
from arena.testing.actions import schemas_of
from arena.testing.walk import parsed, values_of

ENDINGS = ("submit", "organize", "submit_report", "finish")
"""Tools that end a stage; random play calls them rarely before its last step."""


class Trace(NamedTuple):
    """A recorded episode. All but the actions are plain values of JSON (see `plain`)."""

    seed: int
    start: list[Any]  # observation and info of the reset
    actions: list[Any]  # as they were sent
    steps: list[list[Any]]  # observation, reward, terminated, truncated, info of each step

    def ids(self) -> list[str]:
        """Return the distinct ids in the results of the episode."""
        results = [parsed(observation["result"]) for observation, *_ in (self.start, *self.steps)]
        return list(dict.fromkeys(values_of("id", results)))


def random_play(env: Any, seed: int, steps: int) -> Callable[[Any], Any]:
    """Return a function that searches for the topic, and then samples the action space.

    Within an episode the action space draws ids that were shown. Endings are rare before the last
    of `steps` steps.
    """
    space, rng, number = env.action_space, random.Random(seed), itertools.count(1)
    search = schemas_of(env).get("search")
    space.seed(seed)

    def act(observation: Mapping[str, Any]) -> Any:
        if (step := next(number)) == 1 and search:
            k = min(50, search["properties"].get("k", {}).get("maximum", 50))
            return {"tool": "search", "arguments": {"query": observation["topic"], "k": k}}
        action = plain(space.sample())
        while step < steps and action["tool"] in ENDINGS and rng.random() < 0.8:
            action = plain(space.sample())
        return action

    return act


def record(env: gymnasium.Env[Any, Any], seed: int, act: Callable[[Any], Any], limit: int) -> Trace:
    """Record the first `limit` steps of an episode; `act` makes actions of observations."""
    trace = Trace(seed, [], [], [])
    for step in itertools.islice(play(env, act, seed=seed), limit + 1):
        if not trace.start:
            trace.start.extend(plain([step.observation, step.info]))
        else:
            trace.actions.append(copy.deepcopy(step.action))
            trace.steps.append(plain(list(step[1:])))
    return trace


def replay(
    env: gymnasium.Env[Any, Any], trace: Trace, form: Callable[[Any], Any] = copy.deepcopy
) -> Trace:
    """Send the actions of `trace` again, each as `form` writes it, until the episode ends."""
    actions = iter(trace.actions)
    return record(env, trace.seed, lambda _: form(next(actions)), len(trace.actions))


def difference(expected: Trace, got: Trace) -> str | None:
    """Return where two episodes first differ, or None."""
    places = ("observation", "reward", "terminated", "truncated", "info")
    names = [f"step {n}, action {json.dumps(plain(action))[:100]}"
             for n, action in enumerate(expected.actions, 1)]  # fmt: skip

    def named(trace: Trace) -> dict[str, Any]:
        steps = zip(names, trace.steps, strict=False)
        start = {"observation": trace.start[0], "info": trace.start[1]}
        return {"the reset": start} | {n: dict(zip(places, s, strict=True)) for n, s in steps}

    where = first_difference(named(expected), named(got))
    return where and f"seed {expected.seed}, {where}"


def first_difference(one: Any, other: Any) -> str | None:
    """Return where and how two plain values first differ, or None."""
    first, second = dict(flat(one)), dict(flat(other))
    for path in first | second:
        place = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
        place = place.removeprefix(".") or "value"
        if path not in first or path not in second:
            return f"{place} is there only the {'first' if path in first else 'second'} time"
        a, b = first[path], second[path]
        if type(a) is type(b) and a == b:
            continue
        if isinstance(a, str) and isinstance(b, str):
            pairs = enumerate(zip(a, b, strict=False))
            at = next((n for n, (x, y) in pairs if x != y), min(len(a), len(b)))
            parts = " and then ".join(repr(text[max(0, at - 20) : at + 30]) for text in (a, b))
            return f"{place} differs at character {at}: {parts}"
        return f"{place} is {a!r:.60} and then {b!r:.60}"
    return None


def flat(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """Yield (the keys and indexes that lead to it, leaf) for a value of JSON."""
    if isinstance(value, dict | list) and value:
        for key, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from flat(item, (*path, key))
    else:
        yield path, value


def plain(value: Any) -> Any:
    """Return a deep copy that JSON can hold; other objects become their ``repr``."""
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return float(value) if np.isfinite(value) else repr(float(value))
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return repr(value)


def unbatched(batch: Mapping[str, Any], place: int) -> dict[str, Any]:
    """Return the observation of one environment from a batch of observations."""
    return {
        name: unbatched(value, place) if isinstance(value, Mapping) else value[place]
        for name, value in batch.items()
    }


def info_of(infos: Mapping[str, Any], place: int) -> dict[str, Any]:
    """Return the info of one environment; Gymnasium batches each key with a mask ``_key``."""
    return {
        key: info_of(value, place) if isinstance(value, Mapping) else value[place]
        for key, value in infos.items()
        if isinstance(mask := infos.get(f"_{key}"), np.ndarray) and mask[place]
    }
