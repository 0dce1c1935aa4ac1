"""Play one episode of an environment, and record it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import gymnasium

from arena._internal.files import sha256_json
from arena.agents import Agent
from arena.errors import DataError, clip
from arena.tools import json_action, tool_schemas


class PlayedStep(NamedTuple):
    """One step of an episode, or its reset.

    Attributes:
        action: What was played; None for the reset.
        observation: What the environment returned.
        reward: Reward of the step; 0 for the reset.
        terminated: Whether the agent ended the episode.
        truncated: Whether the budget ended the episode.
        info: Gymnasium's fifth value.
    """

    action: Any
    observation: dict[str, Any]
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


def play(
    env: gymnasium.Env[Any, Any],
    act: Callable[[dict[str, Any]], Any],
    survey_id: str | None = None,
    seed: int | None = None,
) -> Iterator[PlayedStep]:
    """Play one episode; yield its reset, then every step, until the episode is over.

    Runs and replays differ in `act` alone. A step is yielded before `act` receives its
    observation, which `act` may change.

    Args:
        env: Environment to play in.
        act: Function from an observation to the next action.
        survey_id: Survey to play; by default the environment draws one.
        seed: Seed of the episode.
    """
    options = None if survey_id is None else {"survey": survey_id}
    observation, info = env.reset(seed=seed, options=options)
    step = PlayedStep(None, observation, 0.0, False, False, info)
    yield step
    while not (step.terminated or step.truncated):
        action = act(step.observation)
        observation, reward, terminated, truncated, info = env.step(action)
        step = PlayedStep(action, observation, float(reward), terminated, truncated, info)
        yield step


def record_episode(
    env: gymnasium.Env[Any, Any], agent: Agent, survey_id: str, seed: int
) -> dict[str, Any]:
    """Let `agent` play one survey; return the episode as docs/trajectories.md describes it.

    The agent receives the schemas of the tools and observations, and nothing else. Its actions are
    converted to JSON values (see `arena.tools.json_action`) before they are played, so the record
    holds exactly what was played.

    Args:
        env: Environment to play in.
        agent: A fresh agent.
        survey_id: Survey to play.
        seed: Seed of the episode.

    Raises:
        DataError: The agent's notes are not a JSON object.
    """
    agent.tools = tool_schemas(env)
    episode = play(env, lambda observation: json_action(agent.act(observation)), survey_id, seed)
    step = next(episode)
    first, budget = sha256_json(step.observation), dict(step.observation["budget"])
    steps = []
    for step in episode:
        record = {
            "action": step.action,
            "observation_sha256": sha256_json(step.observation),
            "reward": step.reward,
            "reward_terms": step.info["reward_terms"],
        }
        if (error := error_in(step.observation)) is not None:
            record["error"] = error
        steps.append(record)
    return {
        "survey": survey_id,
        "seed": seed,
        "observation_sha256": first,
        "steps": steps,
        "truncated": step.truncated,
        "spent": spent(budget, step.observation),
        "answers": step.info["answers"],
        "metrics": step.info["metrics"],
        "notes": _notes(agent),
    }


def episode_seed(seed: int, survey_id: str) -> int:
    """Return a seed that does not depend on which other surveys are played."""
    digest = hashlib.sha256(f"{seed} {survey_id}".encode()).digest()
    return int.from_bytes(digest[:4], "little")


def error_in(observation: Mapping[str, Any]) -> Any:
    """Return the error in an observation if the last action was refused, else None."""
    result = observation["result"]
    return json.loads(result)["error"] if result.startswith('{"error":') else None


def spent(budget: Mapping[str, int], last: Mapping[str, Any]) -> dict[str, int]:
    """Return what an episode spent, from its first budget and its last observation."""
    return {name: budget[name] - left for name, left in last["budget"].items()}


def _notes(agent: Agent) -> dict[str, Any]:
    notes = agent.notes()
    try:
        if isinstance(notes, dict):
            return json.loads(json.dumps(notes, allow_nan=False, sort_keys=True))  # type: ignore[no-any-return]
        problem = "it is not a dict"
    except (TypeError, ValueError, RecursionError) as error:
        problem = str(error)
    raise DataError(f"notes() returned {clip(notes)}, which is not a JSON object: {problem}.")
