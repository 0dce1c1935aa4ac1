"""One agent, one survey, one episode."""

from __future__ import annotations

import json
from typing import Any

import gymnasium
import numpy as np

from arena._files import sha256_json
from arena.agents import Agent
from arena.tasks import Task

VERSION = 1


def make_environment(task: Task, **arguments: Any) -> gymnasium.Env[Any, Any]:
    """Return the environment of a task; `arguments` are those of `SurveyEnv`."""
    return gymnasium.make(task.environment, **arguments)


def play(env: gymnasium.Env[Any, Any], agent: Agent, survey_id: str, seed: int) -> dict[str, Any]:
    """Let `agent` play one survey and return the episode as a trajectory record.

    The agent is handed observations and nothing else.

    Args:
        env: the environment.
        agent: a fresh agent.
        survey_id: the survey.
        seed: of the episode.
    """
    observation, info = env.reset(seed=seed, options={"survey": survey_id})
    searches = observation["budget"]["searches"]
    steps = []
    terminated = truncated = False
    while not (terminated or truncated):
        action = agent.act(observation)
        recorded = _recorded(action)
        observation, reward, terminated, truncated, info = env.step(action)
        step = {
            "action": recorded,
            "observation_sha256": sha256_json(observation),
            "reward": reward,
        }
        if observation["result"].startswith('{"error":'):
            step |= json.loads(observation["result"])
        steps.append(step)
    return {
        "version": VERSION,
        "survey": survey_id,
        "seed": seed,
        "steps": steps,
        "searches": searches - observation["budget"]["searches"],
        "submitted": info["submitted"],
        "metrics": info["metrics"],
        "truncated": truncated,
    }


def _recorded(action: object) -> Any:
    """Return the action as JSON has it, or a word on what it was."""
    try:
        return json.loads(json.dumps(action, allow_nan=False, default=_number))
    except (ValueError, TypeError, RecursionError):
        # Not its repr: that may hold an address or the order of a set, which differ every time.
        return f"a {type(action).__name__} that JSON cannot hold"


def _number(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError
