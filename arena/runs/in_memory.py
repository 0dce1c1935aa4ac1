"""Episodes in memory, for training: the agent that learns is the one that a run plays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import gymnasium

from arena.agents import Agent
from arena.envs import ResearchEnv
from arena.errors import DataError, clip
from arena.runs.episodes import PlayedStep, episode_seed, play
from arena.runs.players import ORACLE, AgentFactory
from arena.tools import tool_schemas


class Rollout(NamedTuple):
    """One episode.

    Attributes:
        topic_id: Id of the topic.
        agent: The agent that played it, with what it remembers, or the function.
        steps: The reset, with action None and reward 0, and every step.
    """

    topic_id: str
    agent: Agent | Callable[[dict[str, Any]], Any]
    steps: list[PlayedStep]

    @property
    def rewards(self) -> list[float]:
        """Reward of each action."""
        return [step.reward for step in self.steps[1:]]

    @property
    def metrics(self) -> dict[str, float]:
        """Name -> score of the answers; empty without labels."""
        return dict(self.steps[-1].info.get("metrics") or {})


def rollouts(
    agent: str | type[Agent] | Callable[[dict[str, Any]], Any],
    env: gymnasium.Env[Any, Any],
    topics: Sequence[str] | int | None = None,
    *,
    agent_options: Mapping[str, Any] | None = None,
    seed: int | None = None,
) -> Iterator[Rollout]:
    """Play episodes one after another, in memory; nothing is recorded.

    Args:
        agent: As in `arena.run`: a name, ``FILE.py:CLASS`` or a subclass of `Agent`, made afresh
            for each episode; or a function from an observation to an action.
        env: A `ResearchEnv`, wrapped or not.
        topics: Ids to play in this order, one as often as it is named; or how many episodes the
            environment draws; by default all its topics in the order of a run.
        agent_options: Arguments of the agent, such as the policy that it asks.
        seed: Seed of the agents and of the draws: topics that are named are played as by
            `arena.run` with the same seed. By default both continue from the environment's
            generator, so that the next call plays other episodes.

    Raises:
        DataError: The agent is none, or `env` is no environment of this project.
    """
    inner = env.unwrapped
    if not isinstance(inner, ResearchEnv):
        raise DataError(f"env={clip(env)}: give an environment of arena, such as ResearchEnv.")
    is_agent = isinstance(agent, str | type)
    if not is_agent and not callable(agent):
        raise DataError(f"agent={clip(agent)}: give a name, a subclass of Agent or a function.")
    if isinstance(topics, int) and topics < 0:
        raise DataError(f"topics={topics}: give ids, or a number >= 0.")
    factory, drawn = None, inner._factory.drawn
    if is_agent:
        options, task = agent_options or {}, inner.config.resolved_task
        tasks, *others = {id(each.tasks): each.tasks for each in drawn.values()}.values()
        if others and agent == ORACLE:
            raise DataError("the oracle knows the labels of one corpus: play one at a time.")
        # labels, which the oracle alone receives
        factory = AgentFactory(agent, options, task, tasks)  # type: ignore[arg-type]
    chosen: list[str | None] = [None] * topics if isinstance(topics, int) else [*(topics or ())]
    if topics is None:
        dates = {s: each.tasks.topic(each.topic_id).date for s, each in drawn.items()}
        chosen = [*sorted(drawn, key=lambda topic_id: (dates[topic_id], topic_id))]
    for place, topic_id in enumerate(chosen):
        own = int(inner.np_random.integers(2**32)) if seed is None else episode_seed(seed, place)
        drawn_with = None if seed is None or (topic_id is None and place) else own
        yield _play(env, topic_id, drawn_with, agent, factory, own)


def _play(
    env: gymnasium.Env[Any, Any],
    topic_id: str | None,
    drawn_with: int | None,
    player: Any,
    factory: AgentFactory | None,
    seed: int,
) -> Rollout:
    """Play one episode with the player, or with the agent that the factory makes."""

    def act(observation: dict[str, Any]) -> Any:
        return player(observation) if factory is None else player.act(observation)

    episode = play(env, act, topic_id, drawn_with)
    first = next(episode)
    if factory is not None:
        player = factory.make(first.info["topic_id"], seed)
        player.tools = tool_schemas(env)
    return Rollout(first.info["topic_id"], player, [first, *episode])
