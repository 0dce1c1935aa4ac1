"""The check ``bad_actions``."""

from __future__ import annotations

import math
from typing import Any

from arena.check._episodes import Trace, first_difference, parsed, plain
from arena.check._junk import stress, wrong
from arena.check._subject import Subject
from arena.check.base import CHECKS, require
from arena.errors import clip


@CHECKS.register("bad_actions")
def check(subject: Subject) -> str:
    """A call that cannot be carried out is answered, costs a step and nothing else."""
    tools = subject.tools
    env = subject.make(max_steps=10**6)
    observation = env.reset(seed=subject.seeds[0])[0]
    count = 0
    for action in wrong(tools):
        before = dict(observation["budget"])
        observation, over = _step(env, action)
        where = f"the action {clip(action)}"
        require(not over, f"{where} ended the episode")
        left = dict(observation["budget"])
        cost = {name: before[name] - left[name] for name in before if before[name] != left[name]}
        require(cost == {"steps": 1}, f"{where} cost {cost}, not a step")
        answer = parsed(observation["result"])
        told = isinstance(answer, dict) and isinstance(answer.get("error"), str)
        require(told and answer["error"], f"{where} is answered without an 'error'")
        count += 1
    _goes_on(env, subject.traces[0])
    observation = env.reset(seed=subject.seeds[0])[0]
    for action in stress(tools):
        observation, over = _step(env, action)
        least = min(observation["budget"].values())
        require(least >= 0, f"the action {clip(action)} left {least} of a budget")
        if over:
            observation = env.reset(seed=subject.seeds[0])[0]
        count += 1
    return f"{count} actions"


def _goes_on(env: Any, trace: Trace) -> None:
    """Require that the episode answers from here on as one in which nothing went wrong."""
    for action, expected in zip(trace.actions, trace.steps, strict=True):
        observation, reward, terminated, *_ = env.step(action)
        found = first_difference(
            {"result": expected[0]["result"], "reward": expected[1], "terminated": expected[2]},
            plain({"result": observation["result"], "reward": reward, "terminated": terminated}),
        )
        require(not found, f"after the bad actions the episode goes on otherwise: {found}")


def _step(env: Any, action: Any) -> tuple[Any, bool]:
    try:
        observation, reward, terminated, truncated, _ = env.step(action)
    except Exception as error:
        told = f"the action {clip(action)} raised {type(error).__name__}: {error}"
        require(False, told)
        raise
    where = f"the action {clip(action)}"
    require(env.observation_space.contains(observation), f"{where}: observation not in its space")
    require(math.isfinite(reward), f"{where} pays {reward!r}")
    return observation, bool(terminated or truncated)
