"""An environment whose contract is checked, and its recorded episodes."""

from __future__ import annotations

import copy
import importlib
import itertools
import json
import random
import warnings
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple, cast

import gymnasium
from gymnasium.envs.registration import EnvSpec

from arena.errors import ArenaError, DataError, UnknownNameError, clip, did_you_mean
from arena.runs.episodes import play
from arena.testing.attacks import endings, schemas_of
from arena.testing.values import first_difference, plain

STEPS = 16
"""Most steps of a recorded episode; in the last `_CLOSING` of them the agent submits."""
EPISODES = 5
_CLOSING = 4


def find_spec(env_id: str) -> EnvSpec:
    """Return the registered environment of an id; import the module of ``module:id`` first."""
    from arena.tasks import environment_ids

    module, _, name = env_id.rpartition(":")
    if module:
        try:
            importlib.import_module(module)
        except Exception as error:
            raise DataError(
                f"the module of {env_id!r} cannot be imported: {type(error).__name__}: {error}."
            ) from error
    known = environment_ids()  # a task of another distribution may register its own environment
    try:
        return gymnasium.spec(name)
    except gymnasium.error.Error:
        raise UnknownNameError(
            f"no environment {clip(env_id)}.{did_you_mean(env_id, known)} Those of another "
            "distribution are named module:id."
        ) from None


class CheckedEnv:
    """One environment under check.

    Args:
        env_id: Gymnasium id, or ``module:id``.
        arguments: Arguments of the environment.
        seed: Seed of the first recorded episode; the others follow.
        episodes: Number of recorded episodes, >= 1.
    """

    def __init__(
        self, env_id: str, arguments: Mapping[str, Any], seed: int = 0, episodes: int = EPISODES
    ) -> None:
        self.env_id, self.arguments = env_id, dict(arguments)
        self.seeds = list(range(seed, seed + episodes))
        self.spec = find_spec(env_id)
        try:  # bad input is an error here, and not a failed check
            env = self.make()
        except ArenaError:
            raise
        except Exception as error:
            raise DataError(
                f"{env_id} cannot be made with {clip(self.arguments)}: "
                f"{type(error).__name__}: {error}"
            ) from error
        if not isinstance(name := getattr(env.unwrapped, "task_name", None), str):
            raise DataError(f"{clip(env)} plays no task. Give a subclass of arena.envs.SurveyEnv.")
        self.task = name
        env.close()

    def make(self, **changes: Any) -> gymnasium.Env[Any, Any]:
        """Make the environment, with `changes` to its arguments."""
        return cast(gymnasium.Env[Any, Any], self._made(gymnasium.make, **changes))

    def make_vector(self, num_envs: int, mode: str, **changes: Any) -> Any:
        """Make a vector environment; `mode` is ``"sync"`` or ``"vector_entry_point"``."""
        vector = {"num_envs": num_envs, "vectorization_mode": mode}
        return self._made(gymnasium.make_vec, **vector, **changes)

    def _made(self, make: Callable[..., Any], **changes: Any) -> Any:
        with warnings.catch_warnings():  # of an id that has a newer version
            warnings.simplefilter("ignore")
            return make(self.spec, **self.arguments | changes)

    @cached_property
    def traces(self) -> list[Trace]:
        """The recorded episodes of random actions, all played in one environment."""
        env = self.make()
        return [record(env, seed, random_play(env, seed, STEPS), STEPS) for seed in self.seeds]

    @cached_property
    def tools(self) -> dict[str, dict[str, Any]]:
        """Name of each tool of the environment -> JSON schema of its arguments."""
        return schemas_of(self.make())


class Trace(NamedTuple):
    """A recorded episode. All but the actions are plain values of JSON (see `plain`)."""

    seed: int
    start: list[Any]  # observation and info of the reset
    actions: list[Any]  # as they were sent
    steps: list[list[Any]]  # observation, reward, terminated, truncated, info of each step


def random_play(env: Any, seed: int, steps: int) -> Callable[[Any], Any]:
    """Return a function that searches for the topic, then samples the action space, then submits.

    Within an episode the action space draws ids that were shown.
    """
    space, rng, number = env.action_space, random.Random(seed), itertools.count(1)
    schemas = schemas_of(env)
    ends = [tool for tool in schemas if tool in endings()]
    space.seed(seed)

    def act(observation: Mapping[str, Any]) -> Any:
        if (step := next(number)) == 1 and "search" in schemas:
            k = min(50, schemas["search"]["properties"].get("k", {}).get("maximum", 50))
            return {"tool": "search", "arguments": {"query": observation["topic"], "k": k}}
        late, early = ends and step > steps - _CLOSING, rng.random() < 0.1
        action = plain(space.sample())
        while (action["tool"] not in ends) if late else (action["tool"] in ends and not early):
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
