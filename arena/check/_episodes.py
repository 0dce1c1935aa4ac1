"""Episodes of random actions, recorded, played again, and compared."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import gymnasium
import numpy as np

ENDING = ("submit", "organize", "finish")
"""Tools that end an episode or a stage; random play uses them rarely before the last step."""


class Trace(NamedTuple):
    """An episode as it went. All but the actions is what `plain` makes of it.

    Attributes:
        seed: of the reset.
        options: of the reset.
        start: observation and info of the reset.
        actions: as they were given.
        steps: [observation, reward, terminated, truncated, info] of each.
    """

    seed: int
    options: dict[str, Any] | None
    start: list[Any]
    actions: list[Any]
    steps: list[list[Any]]


class Player:
    """Random calls that mean something: samples of the space with words and ids from results."""

    def __init__(self, space: Any, seed: int, steps: int = 16) -> None:
        self._space = copy.deepcopy(space)
        self._space.seed(seed)
        self._rng = np.random.default_rng(seed)
        self._ids: dict[str, None] = {}
        self._words: dict[str, None] = {}
        self._left = steps

    def act(self, observation: Mapping[str, Any]) -> Any:
        """Return the next action."""
        if not self._words:
            self._words.update(dict.fromkeys(observation["topic"].split()))
        result = parsed(observation["result"])
        self._ids.update(dict.fromkeys(ids_in(result)))
        self._words.update(dict.fromkeys(word for t in titles_in(result) for word in t.split()))
        self._left -= 1
        if not self._ids and "search" in self._space.tools:
            k = dict_of(self._space.tools["search"])["k"].bounds[1]
            return {
                "tool": "search",
                "arguments": {"query": observation["topic"], "k": min(50, k or 50)},
            }
        action = self._space.sample()
        while self._left > 0 and action["tool"] in ENDING and self._rng.random() < 0.8:
            action = self._space.sample()
        arguments = action["arguments"]
        if "query" in arguments:
            arguments["query"] = " ".join(self._some(self._words, 3))
        if "paper_id" in arguments and self._rng.random() < 0.9:
            arguments["paper_id"] = (self._some(self._ids, 1) or ["none"])[0]
        if "paper_ids" in arguments and self._rng.random() < 0.9:
            arguments["paper_ids"] = self._some(self._ids, 30)
        for name in ("page", "section", "offset"):  # else most calls would be out of range
            if name in arguments and self._rng.random() < 0.7:
                arguments[name] = int(name == "page")
        return action

    def _some(self, pool: Mapping[str, None], most: int) -> list[str]:
        names = list(pool)
        count = min(len(names), most)
        return [names[i] for i in self._rng.permutation(len(names))[:count]]


def dict_of(tool: Any) -> dict[str, Any]:
    """Return the parameters of a tool by name."""
    return {parameter.name: parameter for parameter in tool.parameters}


def play(
    env: gymnasium.Env[Any, Any],
    seed: int,
    player: Player,
    limit: int,
    options: dict[str, Any] | None = None,
) -> Trace:
    """Play one episode, or `limit` steps of it."""
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
    """Carry out the actions of `trace` again, each as `form` writes it, while the episode runs."""
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
    """Return where two episodes differ for the first time, or None."""
    if found := first_difference(
        dict(zip(("observation", "info"), expected.start, strict=True)),
        dict(zip(("observation", "info"), got.start, strict=True)),
    ):
        return f"seed {expected.seed}, at the reset: {found}"
    for number, (one, other) in enumerate(zip(expected.steps, got.steps, strict=False), 1):
        if found := first_difference(
            dict(zip(_PLACES, one, strict=True)), dict(zip(_PLACES, other, strict=True))
        ):
            action = json.dumps(plain(expected.actions[number - 1]))[:100]
            return f"seed {expected.seed}, step {number}, action {action}: {found}"
    if len(expected.steps) != len(got.steps):
        return f"seed {expected.seed}: {len(expected.steps)} steps and then {len(got.steps)}"
    return None


def first_difference(one: Any, other: Any, place: str = "") -> str | None:
    """Return where two plain values differ for the first time, and how, or None."""
    if type(one) is not type(other):
        return f"{place or 'value'} is {_short(one)} and then {_short(other)}"
    if isinstance(one, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            where = f"{place}.{key}" if place else str(key)
            if key not in one or key not in other:
                return f"{where} is there only {'the first' if key in one else 'the second'} time"
            if found := first_difference(one[key], other[key], where):
                return found
        return None
    if isinstance(one, list):
        for number, (a, b) in enumerate(zip(one, other, strict=False)):
            if found := first_difference(a, b, f"{place}[{number}]"):
                return found
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
    """Return a deep copy made of what JSON holds; what it cannot hold becomes its repr."""
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


def parsed(text: Any) -> Any:
    """Return what a result holds, or None if it is no JSON."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None


def ids_in(result: Any) -> Iterator[str]:
    """Yield the values of every key ``id`` in a parsed result, in order."""
    return _values(result, "id")


def titles_in(result: Any) -> Iterator[str]:
    """Yield the values of every key ``title`` in a parsed result, in order."""
    return _values(result, "title")


def _values(result: Any, key: str) -> Iterator[str]:
    if isinstance(result, dict):
        for name, value in result.items():
            if name == key and isinstance(value, str):
                yield value
            else:
                yield from _values(value, key)
    elif isinstance(result, list):
        for item in result:
            yield from _values(item, key)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
