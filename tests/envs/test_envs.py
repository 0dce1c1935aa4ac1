"""The environments: Gymnasium's contract, whole episodes, budgets, scores."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
import warnings

import gymnasium
import pyarrow.parquet as pq
import pytest
from gymnasium.utils.env_checker import check_env
from helpers import (
    SMALL,
    SURVEY,
    Memory,
    arena_topics,
    call,
    gold_of,
    make_env,
    result,
)
from pydantic import ValidationError

import arena
from arena.envs import EnvConfig
from arena.envs.config import describe_settings
from arena.errors import ArenaError, DataError, UnknownNameError
from arena.tasks import environment_ids

BUDGET = {"steps": 100, "searches": 50, "reads": 100, "characters": 2_000_000}


@pytest.mark.parametrize("name", environment_ids())
def test_check_env(synthetic, name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make_env(synthetic, name).unwrapped)


def test_importing_arena_is_enough_and_light(synthetic):
    code = (
        "import arena, gymnasium, sys; "
        "late = {'numba', 'pyarrow', 'regex', 'arena.envs', 'arena.corpus'}; "
        "assert not late & set(sys.modules); "
        f"env = gymnasium.make('arena/Selection-v0', corpus={str(synthetic)!r}); "
        "print(sorted(env.reset(seed=1)[0]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['budget', 'cutoff', 'result', 'stage', 'topic']"


def test_an_episode(synthetic):
    env = make_env(synthetic, reward="final")
    observation, info = env.reset(seed=3)
    topic = arena_topics(synthetic)[info["topic_id"]]
    assert observation["topic"] == topic["title"].lower()
    assert observation["cutoff"] == topic["date"].isoformat()
    assert "message" in json.loads(observation["result"])
    assert observation["stage"] == "discovery"
    assert observation["budget"] == BUDGET
    assert list(observation) == ["topic", "cutoff", "stage", "result", "budget"]

    step = env.step(call("search", query=observation["topic"], k=100))
    ids = [hit["id"] for hit in result(step)["hits"]]
    assert step[1:4] == (0.0, False, False)
    assert step[0]["budget"] == BUDGET | {
        "steps": 99, "searches": 49, "characters": 2_000_000 - len(step[0]["result"]),
    }  # fmt: skip
    gold = gold_of(synthetic, info["topic_id"])
    gain = len(gold.intersection(ids)) / len(gold)
    assert step[4] == {"topic_id": info["topic_id"], "reward_terms": {"final": 0.0}, "gain": gain}

    observation, reward, terminated, truncated, info = env.step(call("submit", paper_ids=ids))
    assert (terminated, truncated) == (True, False)
    assert list(info) == [
        "topic_id", "answers", "metrics", "gold", "references", "references_total", "unseen",
        "termination", "reward_terms", "gain",
    ]  # fmt: skip
    assert info["answers"] == {"discovery": ids}
    # Recall and precision by their definition, from an independent reading of the labels.
    assert info["metrics"]["recall@100"] == pytest.approx(len(gold & set(ids)) / len(gold))
    assert info["metrics"]["precision@10"] == pytest.approx(len(gold & set(ids[:10])) / 10)
    assert reward == info["metrics"]["recall@100"] > 0
    listed = pq.read_table(synthetic / "tasks/gold.parquet")["topic_id"].to_pylist()
    assert info["gold"] == len(gold)
    assert info["references"] == listed.count(info["topic_id"])
    assert info["references_total"] >= info["references"]


@pytest.mark.parametrize("name", environment_ids())
@pytest.mark.parametrize("seed", [1.0, "1", -1, True], ids=repr)
def test_a_seed_that_is_no_integer(synthetic, name, seed):
    """It is refused, and the episode that runs continues."""
    env = make_env(synthetic, name)
    observation, _ = env.reset(seed=5)
    with pytest.raises(DataError, match=r"^seed=.*: give an integer >= 0, or None"):
        env.reset(seed=seed)
    assert env.step(None)[0]["topic"] == observation["topic"]
    assert env.step(None)[0]["budget"]["steps"] == 98


def test_an_epoch_draws_every_topic_once(synthetic):
    with make_env(synthetic, epochs=True) as env:
        topics = env.unwrapped.topics
        drawn = [env.reset(seed=1 if place == 0 else None)[1]["topic_id"] for place in range(5)]
        twin = copy.deepcopy(env)  # continues the epoch
        rest = [env.reset()[1]["topic_id"] for _ in range(2 * len(topics) - 5)]
        assert sorted(drawn + rest[: len(topics) - 5]) == sorted(topics)
        assert sorted(rest[len(topics) - 5 :]) == sorted(topics)
        assert [twin.reset()[1]["topic_id"] for _ in range(7)] == rest[:7]
        assert [env.reset(seed=1)[1]["topic_id"]] == drawn[:1]


def test_a_topic_may_be_chosen(synthetic):
    ids = sorted(arena_topics(synthetic))
    env = make_env(synthetic)
    for topic_id in ids:
        assert env.reset(options={"topic_id": topic_id})[1]["topic_id"] == topic_id
    assert make_env(synthetic, topics=ids[2:3]).reset(seed=9)[1]["topic_id"] == ids[2]
    with pytest.raises(UnknownNameError, match="no topic 'w7-' in this corpus"):
        env.reset(options={"topic_id": "w7-"})
    with pytest.raises(DataError, match=r"no option 'topic_ids'. Did you mean 'topic_id'"):
        env.reset(options={"topic_ids": ids[0]})
    for topic_id in (5, ["x"], "", True):
        with pytest.raises(UnknownNameError, match="no topic"):
            env.reset(options={"topic_id": topic_id})
    assert env.step(None)[4]["topic_id"] == ids[-1]  # the last that was begun continues


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_steps": 0}, "max_steps=0: give an integer from 1 to 1000000"),
        ({"max_k": "9"}, "max_k='9': give an integer from 1 to 1000"),
        ({"max_written": 5}, "no argument 'max_written': it asks for no report"),
        ({"references": "oracle"}, "no argument 'references': its episodes start without papers"),
        ({"rewad": "gain"}, "no argument 'rewad'. Did you mean 'reward'"),
        ({"topics": []}, "no topic is named"),
        ({"topics": "w7-1"}, "is one string"),
        ({"reward_options": {"cost": {}}}, "reward_options names 'cost'"),
        ({"retrievers": ["dense"]}, "has no index 'dense'"),
        ({"retriever_options": 5}, "retriever_options=5: give a mapping"),
        ({"render_mode": "human"}, "give 'ansi' or None"),
        ({"epochs": "no"}, "epochs='no': give True or False"),
    ],
)
def test_bad_arguments(synthetic, options, message):
    with pytest.raises(ArenaError, match=message):
        gymnasium.make("arena/Discovery-v0", **{"corpus": synthetic} | options)


def test_a_configuration_stands_for_its_settings(synthetic):
    config = EnvConfig(task="report", max_steps=7, retrievers="bm25", reward=None)
    assert (config.reward, config.retrievers, config.limits["max_written"]) == (
        "final", ("bm25",), 200_000,
    )  # fmt: skip
    env = gymnasium.make("arena/Report-v0", corpus=synthetic, task=config, max_reads=3).unwrapped
    assert env.reset(seed=1)[0]["budget"] == BUDGET | {"steps": 7, "reads": 3, "written": 200_000}
    assert env.config == EnvConfig.from_settings(config, {"max_reads": 3})
    with pytest.raises(ValidationError, match="frozen"):
        config.max_steps = 8


def test_every_setting_is_described():
    described = describe_settings()
    assert all(map(described.get, EnvConfig.model_fields))
    assert described["max_k"] == "Most hits of one search, from 1 to 1000 (default: 100)"


def test_a_corpus_without_gold_is_refused(tmp_path):
    from corpus_builder.build import build

    late = SMALL.papers()
    papers = [record.record | {"date": "2021"} for record in late]
    build(Memory(papers, [SURVEY]), tmp_path / "corpus")
    for name in environment_ids():
        with pytest.raises(
            DataError,
            match=r"no topic of .* has a (reference in reach|mind-map)",
        ):
            make_env(tmp_path / "corpus", name)


def test_a_topic_without_gold_can_be_played_but_not_scored(mini):
    tasks = arena_topics(mini)
    unscored = [s for s in tasks if not gold_of(mini, s)]
    assert unscored, "the mini corpus has such a topic"
    env = make_env(mini, reward="gain+final")
    env.reset(options={"topic_id": unscored[0]})
    *_, reward, terminated, _, info = env.step(call("submit", paper_ids=[]))
    assert (reward, terminated, info["metrics"]) == (0.0, True, {})
    assert (info["gold"], info["references"]) == (0, 1)
    drawn = {env.reset(seed=seed)[1]["topic_id"] for seed in range(30)}
    assert not drawn & set(unscored)


@pytest.mark.parametrize("name", environment_ids())
def test_pickling_and_rendering(synthetic, name):
    env = make_env(synthetic, name, render_mode="ansi", max_reads=7, reward="gain+cost").unwrapped
    twin = pickle.loads(pickle.dumps(env))
    assert type(twin) is type(env)
    assert twin.action_space == env.action_space
    assert twin.observation_space == env.observation_space
    assert twin.reset(seed=2) == env.reset(seed=2)
    action = call("search", query="membrane")
    assert twin.step(action) == env.step(action)
    assert "searches left 49, reads left 7" in env.render()
    assert env.render().startswith(twin._episode.observation()["stage"])
    shared = make_env(arena.Corpus.open(synthetic), name).unwrapped  # a corpus that is open already
    assert pickle.loads(pickle.dumps(shared)).reset(seed=2) == shared.reset(seed=2)


@pytest.mark.parametrize(
    "again", [copy.deepcopy, copy.copy, lambda e: pickle.loads(pickle.dumps(e))]
)
def test_a_copy_continues_its_episode_and_its_draws(synthetic, again):
    """It had begun anew, without an episode (D10); the first goes its own way."""
    env = make_env(synthetic, "arena/Discovery-v0", reward="gain+final").unwrapped
    env.reset(seed=5)
    env.step(call("search", query="membrane"))
    twin = again(env)
    ends = []
    for each in (twin, env):
        shown = json.loads(each.step(call("search", query="lattice"))[0]["result"])
        best = [hit["id"] for hit in shown["hits"]]
        ends.append((each.step(call("submit", paper_ids=best)), each.reset()))
    assert ends[0] == ends[1]
    ended = again(env)
    assert ended.reset()[1]["topic_id"] == env.reset()[1]["topic_id"]
