"""Samples of an action space are calls that the agent could make, and the ids work as written."""

from __future__ import annotations

import json
import subprocess
import sys

import gymnasium
import pytest
from helpers import make_env

from arena.errors import DataError

TASKS = ("Discovery", "Pipeline")


def ids_in(action):
    arguments = action["arguments"]
    found = [*arguments.get("paper_ids", []), *filter(None, [arguments.get("paper_id")])]
    for child in arguments.get("mind_map", {}).get("children", []):
        found += child["papers"]
    return found


@pytest.mark.parametrize("task", TASKS)
def test_words_of_the_topic_and_ids_that_were_shown(synthetic, task):
    stories = []
    for _ in range(2):
        env, story, refused = make_env(synthetic, f"arena/{task}-v0", max_steps=40), [], 0
        for seed in range(25):
            observation, _ = env.reset(seed=seed)
            env.action_space.seed(seed)
            seen, over = observation["result"], False
            while not over:
                action = env.action_space.sample()
                story.append(action)
                assert all(json.dumps(paper) in seen for paper in ids_in(action))
                if "query" in action["arguments"]:
                    words = set(action["arguments"]["query"].split())
                    assert words <= set(observation["topic"].split())
                observation, _, terminated, truncated, _ = env.step(action)
                seen += observation["result"]
                over = terminated or truncated
                refused += "no paper '" in observation["result"]
        assert refused == 0
        stories.append(story)
    assert stories[0] == stories[1]  # by seed
    assert {action["tool"] for action in story} == set(env.action_space.tools)
    assert any(map(ids_in, story))


def test_a_vector_draws_for_each_of_its_episodes(synthetic):
    envs = gymnasium.make_vec("arena/Discovery-v0", num_envs=3, corpus=synthetic)
    observations, _ = envs.reset(seed=1)
    envs.action_space.seed(1)
    for _ in range(30):
        for action, topic in zip(envs.action_space.sample(), observations["topic"], strict=True):
            if "query" in action["arguments"]:
                assert set(action["arguments"]["query"].split()) <= set(topic.split())
        observations, *_ = envs.step(envs.action_space.sample())


def test_an_id_without_an_import(synthetic):
    """As the documents write it: Gymnasium imports the module before the colon."""
    code = (
        "import sys, gymnasium\n"
        "env = gymnasium.make('arena:arena/Discovery-v0', corpus=sys.argv[1])\n"
        "envs = gymnasium.make_vec('arena:arena/Pipeline-v0', num_envs=2, corpus=sys.argv[1])\n"
        "print(sorted(env.reset(seed=0)[0]), len(envs.reset(seed=0)[0]['topic']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(synthetic)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "['budget', 'cutoff', 'result', 'stage', 'topic'] 2\n"


def test_a_corpus_is_required():
    with pytest.raises(DataError, match="corpus=None: give a built corpus, or its directory"):
        gymnasium.make("arena/Discovery-v0")
