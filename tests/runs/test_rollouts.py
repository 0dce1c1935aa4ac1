"""Episodes in memory are the episodes of a run."""

import json

import gymnasium
import pytest

import arena
from arena.agents import Agent, result_of
from arena.errors import ArenaError, DataError
from arena.rewards import Progress, Reward


class Policy(Agent):
    """Searches once and submits; remembers how many hits it saw."""

    def __init__(self, seed=0, k=10):
        super().__init__(seed)
        self.k, self.seen = k, None

    def act(self, observation):
        if "hits" not in (result := result_of(observation)):
            return {"tool": "search", "arguments": {"query": observation["topic"], "k": self.k}}
        self.seen = [hit["id"] for hit in result["hits"]]
        return {"tool": "submit", "arguments": {"paper_ids": self.seen}}


def test_they_are_the_episodes_of_a_run(synthetic, tmp_path):
    summary = arena.run(
        synthetic, "discovery", Policy, tmp_path / "run", agent_options={"k": 30}, seed=5
    )
    recorded = [
        json.loads(line)
        for line in (tmp_path / "run" / "trajectories.jsonl").read_text().splitlines()
    ]
    with gymnasium.make("arena/Discovery-v0", corpus=synthetic) as env:
        played = list(arena.rollouts(Policy, env, agent_options={"k": 30}, seed=5))
    assert [each.topic_id for each in played] == [each["topic_id"] for each in recorded]
    for each, record in zip(played, recorded, strict=True):
        assert [step.action for step in each.steps[1:]] == [s["action"] for s in record["steps"]]
        assert each.rewards == [step["reward"] for step in record["steps"]]
        assert each.agent.seed == record["seed"] and len(each.agent.seen) == 30
        assert each.metrics["recall@100"] == summary["per_topic"][each.topic_id]["recall@100"]


def test_a_function_plays_drawn_episodes_and_goes_on(synthetic):
    def act(observation):
        return {"tool": "submit", "arguments": {"paper_ids": []}}

    with gymnasium.make("arena/Discovery-v0", corpus=synthetic, epochs=True) as env:
        topics = env.unwrapped.topics
        env.reset(seed=3)
        first = [each.topic_id for each in arena.rollouts(act, env, 4)]
        second = [each.topic_id for each in arena.rollouts(act, env, len(topics) - 5)]
        assert len({*first, *second}) == len(topics) - 1  # the reset played one
        again = [each.topic_id for each in arena.rollouts(act, env, 4, seed=7)]
        assert again == [each.topic_id for each in arena.rollouts(act, env, 4, seed=7)]
        wanted = list(topics)[:1]
        (alone,) = arena.rollouts(act, env, wanted)
        assert [alone.topic_id] == wanted and alone.agent is act and alone.rewards == [0.0]


class Searches(Reward):
    """Pays `each` for a search."""

    def __init__(self, each):
        self.each = each

    def terms(self, progress: Progress) -> dict[str, float]:
        return {"Searches": self.each * progress.searches}


def test_rewards_may_be_objects(synthetic, tmp_path):
    options = {"corpus": synthetic, "reward": ["gain", Searches(0.25)]}
    with gymnasium.make("arena/Discovery-v0", **options) as env:
        (rollout,) = arena.rollouts(Policy, env, 1, seed=0)
        terms = rollout.steps[1].info["reward_terms"]
        assert terms == {"gain": rollout.steps[1].info["gain"], "Searches": 0.25}
        assert env.unwrapped.config.reward == "gain+Searches"
    for refused in (options["reward"], Searches(1.0)):
        with pytest.raises(DataError, match="Register the class with @reward"):
            arena.run(synthetic, "discovery", Policy, tmp_path / "run", reward=refused)
    with pytest.raises(DataError, match="reward=3"):
        gymnasium.make("arena/Discovery-v0", corpus=synthetic, reward=3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, "arena"), "agent=3: give a name"),
        (("title", "CartPole"), "give an environment of arena"),
        (("tilte", "arena"), "Did you mean 'title'"),
    ],
)
def test_what_is_refused(synthetic, arguments, message):
    agent, kind = arguments
    env = (
        gymnasium.make("arena/Discovery-v0", corpus=synthetic)
        if kind == "arena"
        else gymnasium.Env()
    )
    with pytest.raises(ArenaError, match=message):
        next(iter(arena.rollouts(agent, env)))
