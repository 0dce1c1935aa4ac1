"""The one player of episodes: record, replay and compare them, alone and in vectors."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import gymnasium
import numpy as np


class Trace(NamedTuple):
    """A recorded episode. All but the actions are plain values of JSON (see `plain`).

    Attributes:
        seed: Seed of the reset.
        options: Options of the reset.
        start: Observation and info of the reset.
        actions: Actions as they were sent.
        steps: [observation, reward, terminated, truncated, info] of each step.
    """

    seed: int
    options: dict[str, Any] | None
    start: list[Any]
    actions: list[Any]
    steps: list[list[Any]]


def play(
    env: gymnasium.Env[Any, Any],
    seed: int,
    player: Any,
    limit: int,
    options: dict[str, Any] | None = None,
) -> Trace:
    """Record one episode, or its first `limit` steps.

    Args:
        env: Environment to play in.
        seed: Seed of the reset.
        player: Object whose ``act(observation)`` returns the next action.
        limit: Number of steps at most.
        options: Options of the reset.
    """
    observation, info = env.reset(seed=seed, options=options)
    trace = Trace(seed, options, plain([observation, info]), [], [])
    over = False
    while not over and len(trace.steps) < limit:
        action = player.act(observation)
        trace.actions.append(copy.deepcopy(action))
        step = env.step(action)
        trace.steps.append(plain(list(step)))
        observation, over = step[0], bool(step[2] or step[3])
    return trace


def replay(
    env: gymnasium.Env[Any, Any], trace: Trace, form: Callable[[Any], Any] = copy.deepcopy
) -> Trace:
    """Send the actions of `trace` again, each as `form` writes it, until the episode ends."""
    start = plain(list(env.reset(seed=trace.seed, options=trace.options)))
    again = Trace(trace.seed, trace.options, start, [], [])
    for action in trace.actions:
        again.actions.append(action)
        again.steps.append(plain(list(env.step(form(action)))))
        if again.steps[-1][2] or again.steps[-1][3]:
            break
    return again


_PLACES = ("observation", "reward", "terminated", "truncated", "info")


def difference(expected: Trace, got: Trace) -> str | None:
    """Return where two episodes first differ, or None."""
    if where := first_difference(
        dict(zip(("observation", "info"), expected.start, strict=True)),
        dict(zip(("observation", "info"), got.start, strict=True)),
    ):
        return f"seed {expected.seed}, at the reset: {where}"
    for number, (one, other) in enumerate(zip(expected.steps, got.steps, strict=False), 1):
        if where := first_difference(
            dict(zip(_PLACES, one, strict=True)), dict(zip(_PLACES, other, strict=True))
        ):
            action = json.dumps(plain(expected.actions[number - 1]))[:100]
            return f"seed {expected.seed}, step {number}, action {action}: {where}"
    if len(expected.steps) != len(got.steps):
        return f"seed {expected.seed}: {len(expected.steps)} steps and then {len(got.steps)}"
    return None


def first_difference(one: Any, other: Any, place: str = "") -> str | None:
    """Return where and how two plain values first differ, or None."""
    if type(one) is not type(other):
        return f"{place or 'value'} is {_short(one)} and then {_short(other)}"
    if isinstance(one, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            where = f"{place}.{key}" if place else str(key)
            if key not in one or key not in other:
                return f"{where} is there only {'the first' if key in one else 'the second'} time"
            if inner := first_difference(one[key], other[key], where):
                return inner
        return None
    if isinstance(one, list):
        for number, (a, b) in enumerate(zip(one, other, strict=False)):
            if inner := first_difference(a, b, f"{place}[{number}]"):
                return inner
        return None if len(one) == len(other) else f"{place} has {len(one)} and {len(other)} items"
    if one == other:
        return None
    if isinstance(one, str):
        at = next(
            (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b),
            min(len(one), len(other)),
        )
        low = max(0, at - 20)
        return (
            f"{place} differs at character {at}: {one[low : at + 30]!r} and then "
            f"{other[low : at + 30]!r}"
        )
    return f"{place} is {_short(one)} and then {_short(other)}"


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


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
