"""An environment whose contract is checked, and its recorded episodes."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple, cast

import gymnasium

from arena.errors import ArenaError, DataError, clip, did_you_mean
from arena.runs.episodes import play
from arena.tasks import TASKS, environment_ids
from arena.testing.attacks import endings
from arena.testing.values import plain
from arena.tools import Tool

STEPS = 16
"""Most steps of a recorded episode; in the last `_CLOSING` of them the agent submits."""
EPISODES = 5
_CLOSING = 4


class CheckedEnv:
    """One environment under check, by its Gymnasium id; its recorded episodes begin with `seed`."""

    def __init__(
        self, env_id: str, arguments: Mapping[str, Any], seed: int = 0, episodes: int = EPISODES
    ) -> None:
        self.env_id, self.arguments = env_id, dict(arguments)
        self.seeds = list(range(seed, seed + episodes))
        environment_ids()  # a task of another distribution may register its own environment
        try:  # bad input is an error here, and not a failed check
            env = self.make()
        except ArenaError:
            raise
        except gymnasium.error.UnregisteredEnv:
            raise DataError(
                f"there is no environment {clip(env_id)}.{did_you_mean(env_id, environment_ids())} "
                "One of your own is in a file or package: --plugin FILE.py, or MODULE:ID."
            ) from None
        except Exception as error:
            raise DataError(
                f"{clip(env_id)} cannot be made with {clip(self.arguments)}: "
                f"{type(error).__name__}: {error}"
            ) from error
        self.spec = gymnasium.spec(env_id.rpartition(":")[2])
        if not isinstance(name := getattr(env.unwrapped, "task_name", None), str):
            raise DataError(
                f"{clip(env)} plays no task. Give a subclass of arena.envs.ResearchEnv."
            )
        self.task = name
        rewards = cast(Any, env.unwrapped).config.rewards
        reads = any(reward.reads_results for reward in rewards)
        self.may_pool = not (TASKS.get(name).references or reads)
        """Whether its observations can have the pool of papers."""
        env.close()

    def make(self, **changes: Any) -> gymnasium.Env[Any, Any]:
        """Make the environment, with `changes` to its arguments."""
        return gymnasium.make(self.env_id, **self.arguments | changes)

    def make_vector(self, num_envs: int, mode: str, **changes: Any) -> Any:
        """Make a vector environment; `mode` is ``"sync"`` or ``"vector_entry_point"``."""
        return gymnasium.make_vec(self.env_id, num_envs, mode, **self.arguments | changes)

    @cached_property
    def traces(self) -> list[Trace]:
        """The recorded episodes of random actions, all played in one environment."""
        env = self.make()
        return [record(env, seed, random_play(env, seed, STEPS), STEPS) for seed in self.seeds]

    @cached_property
    def tools(self) -> Mapping[str, Tool]:
        """The tools of the environment by name."""
        tools: Mapping[str, Tool] = cast(Any, self.make().action_space).tools
        return tools


class Trace(NamedTuple):
    """A recorded episode, in plain values of JSON (see `plain`).

    `steps` has a `PlayedStep` without its action for the reset and for each action.
    """

    seed: int
    actions: list[Any]
    steps: list[dict[str, Any]]


def random_play(env: Any, seed: int, steps: int) -> Callable[[Any], Any]:
    """Return a function that searches for the topic, then samples the action space, then submits.

    Within an episode the action space draws ids that were shown.
    """
    space, rng, number = env.action_space, random.Random(seed), itertools.count(1)
    ends = endings() & space.tools.keys()
    space.seed(seed)

    def act(observation: Mapping[str, Any]) -> Any:
        if (step := next(number)) == 1 and "search" in space.tools:
            k = min(50, space.tools["search"].schema["properties"]["k"]["maximum"])
            return {"tool": "search", "arguments": {"query": observation["topic"], "k": k}}
        late, early = ends and step > steps - _CLOSING, rng.random() < 0.1
        action = plain(space.sample())
        while (action["tool"] not in ends) if late else (action["tool"] in ends and not early):
            action = plain(space.sample())
        return action

    return act


def record(env: gymnasium.Env[Any, Any], seed: int, act: Callable[[Any], Any], limit: int) -> Trace:
    """Record the first `limit` steps of an episode; `act` makes actions of observations."""
    trace = Trace(seed, [], [])
    for step in itertools.islice(play(env, act, seed=seed), limit + 1):
        values = plain(step._asdict())
        trace.actions.append(values.pop("action"))
        trace.steps.append(values)
    del trace.actions[0]  # of the reset
    return trace


def replay(env: gymnasium.Env[Any, Any], trace: Trace, form: Callable[[Any], Any] = plain) -> Trace:
    """Send the actions of `trace` again, each as `form` writes it, until the episode ends."""
    actions = iter(trace.actions)
    return record(env, trace.seed, lambda _: form(next(actions)), len(trace.actions))
