"""One agent, one survey, one episode."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import gymnasium

from arena._internal.files import sha256_json
from arena.agents import Agent
from arena.errors import DataError, clip
from arena.runs._actions import record_action
from arena.tools import tool_schemas


def episode_seed(seed: int, survey_id: str) -> int:
    """Return a seed that does not depend on which other surveys are played."""
    digest = hashlib.sha256(f"{seed} {survey_id}".encode()).digest()
    return int.from_bytes(digest[:4], "little")


def error_in(observation: Mapping[str, Any]) -> Any:
    """Return what an observation says of an action that could not be carried out, or None."""
    result = observation["result"]
    return json.loads(result)["error"] if result.startswith('{"error":') else None


def play(env: gymnasium.Env[Any, Any], agent: Agent, survey_id: str, seed: int) -> dict[str, Any]:
    """Let `agent` play one survey and return the episode as docs/trajectories.md describes it.

    The agent is handed the tools' schemas and observations, and nothing else.

    Args:
        env: the environment.
        agent: a fresh agent.
        survey_id: the survey.
        seed: of the episode.

    Raises:
        DataError: if the agent's notes are no JSON.
    """
    agent.tools = tool_schemas(env)
    observation, info = env.reset(seed=seed, options={"survey": survey_id})
    first, budget = sha256_json(observation), dict(observation["budget"])  # the agent gets them
    steps = []
    terminated = truncated = False
    while not (terminated or truncated):
        action = agent.act(observation)
        recorded = record_action(action)  # now: the agent may change it later
        observation, reward, terminated, truncated, info = env.step(action)
        step = {
            "action": recorded,
            "observation_sha256": sha256_json(observation),
            "reward": reward,
            "reward_terms": info["reward_terms"],
        }
        error = error_in(observation)
        if error is not None:
            step["error"] = error
        steps.append(step)
    return {
        "survey": survey_id,
        "seed": seed,
        "observation_sha256": first,
        "steps": steps,
        "truncated": truncated,
        "spent": {name: budget[name] - left for name, left in observation["budget"].items()},
        "answers": info["answers"],
        "metrics": info["metrics"],
        "notes": _notes(agent),
    }


def _notes(agent: Agent) -> dict[str, Any]:
    notes = agent.notes()
    try:
        if isinstance(notes, dict):
            return json.loads(json.dumps(notes, allow_nan=False, sort_keys=True))  # type: ignore[no-any-return]
        problem = "it is no dict"
    except (TypeError, ValueError, RecursionError) as error:
        problem = str(error)
    raise DataError(f"notes() returned {clip(notes)}, which is no JSON object: {problem}.")
