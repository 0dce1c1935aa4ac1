"""Samplers: the rules by hand, a state that several share, and where environments ask them."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import gymnasium
import numpy as np
import pytest
from helpers import act, make_env

import arena
from arena.envs import EnvConfig
from arena.errors import DataError, UnknownNameError
from arena.samplers import Drawn
from arena.session import Sessions
from arena.tasks.profiles import Profile
from arena_analysis.samplers import ByDifficulty, Frontier

COLUMN = {"a": 0.2, "b": 0.9, "c": None, "d": 0.5}


def opened(sampler, topics="abc"):
    """Return a sampler of topics of a task set, whose profile is `COLUMN`."""
    rows = {name: {"title": value} for name, value in COLUMN.items()}
    profile = Profile(rows, ["title"], "", None)
    tasks = SimpleNamespace(sha256="0" * 64, profile=lambda: profile)
    sampler.open({topic: Drawn(tasks, topic) for topic in topics})
    return sampler


def played(sampler, **scores):
    for topic, each in scores.items():
        for score in each:
            sampler.ended(topic, score)
    return sampler


def test_the_frontier_is_where_some_episodes_succeed_and_some_do_not():
    sampler = opened(Frontier(window=3, success=0.5, explore=0.0))
    assert sampler.frontier() == ["a", "b", "c"]  # nothing is known
    played(sampler, a=[0.9, 0.9, 0.5], b=[0.0, 0.5, 0.0], c=[0.1, 0.2])
    assert sampler.frontier() == ["b", "c"]  # c has two results of three
    rng = np.random.default_rng(0)
    assert {sampler.draw(rng) for _ in range(50)} == {"b", "c"}
    played(sampler, c=[0.1], b=[0.0, 0.0])  # b's success is out of the window
    assert sampler.frontier() == []
    assert {sampler.draw(rng) for _ in range(50)} == {"a", "b", "c"}


def test_success_is_by_default_the_median():
    sampler = played(opened(Frontier(window=2)), a=[0.1, 0.2], b=[0.3, 0.1], c=[0.8, 0.9])
    assert sampler.frontier() == ["b"]  # the median is .25
    draws = np.random.default_rng(0)
    counted = [opened(Frontier(explore=1.0)).draw(draws) for _ in range(300)]
    assert all(70 < counted.count(topic) < 130 for topic in "abc")


def test_workers_share_a_state_and_a_restart_continues(tmp_path):
    file = tmp_path / "deep" / "state.json"
    one, other = (opened(Frontier(str(file), window=2, success=0.5)) for _ in range(2))
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: (one, other)[n % 2].ended("a", 1.0), range(20)))
    assert one.frontier() == other.frontier() == ["b", "c"]
    assert json.loads(file.read_text()) == {
        "episodes": 20, "topics": {f"{'0' * 16}/a": [1.0, 1.0]},
    }  # fmt: skip
    assert opened(Frontier(str(file), window=2, success=0.5)).frontier() == ["b", "c"]
    for scores in ('["high"]', "[null, 1]", "0.5"):
        file.write_text(f'{{"topics": {{"0/a": {scores}}}, "episodes": 1}}')
        with pytest.raises(DataError, match=r"state\.json' is no state of a sampler"):
            Frontier(str(file))
    with pytest.raises(DataError, match="deep' is no state of a sampler"):
        Frontier(str(file.parent))


def test_by_difficulty_draws_the_easiest_first():
    sampler = opened(ByDifficulty(episodes=10, start=0.25), "abcd")
    rng = np.random.default_rng(0)
    drawn = {sampler.draw(rng) for _ in range(40)}
    played(sampler, a=[0.0] * 5)  # sqrt(.5 (1 - .0625) + .0625) = .73: three of four
    later = {sampler.draw(rng) for _ in range(40)}
    played(sampler, a=[0.0] * 9)
    assert (drawn, later) == ({"b"}, {"b", "d", "a"})
    assert {sampler.draw(rng) for _ in range(40)} == {*"abcd"}
    hardest = opened(ByDifficulty("-title", episodes=10, start=0.25), "abcd")
    assert hardest.draw(rng) == "a"
    with pytest.raises(DataError, match=r"no column 'titel'\. Did you mean 'title'\?"):
        opened(ByDifficulty("titel"))


def finished(env, topic_id=None):
    env.reset(options={"topic_id": topic_id} if topic_id else None)
    act(env, "finish")


def test_environments_tell_how_episodes_end(synthetic, tmp_path):
    state = tmp_path / "state.json"
    setting = {"sampler": "frontier", "sampler_options": {"state": str(state)}}
    env = make_env(synthetic, **setting)
    first, *_ = env.unwrapped.topics
    finished(env, first)
    finished(env)
    vectors = gymnasium.make_vec("arena/Discovery-v0", num_envs=3, corpus=synthetic, **setting)
    vectors.reset(seed=0)
    vectors.step([{"tool": "finish", "arguments": {}}] * 3)
    sessions = Sessions.make(synthetic, **setting)
    sessions.open("one", topic_id=first)
    sessions.close("one")
    told = json.loads(state.read_text())
    assert told["episodes"] == 6
    (key,) = (key for key in told["topics"] if key.endswith(f"/{first}"))
    assert told["topics"][key][:2] == [0.0, 0.0]
    with pytest.raises(DataError, match="a run plays every topic"):
        arena.run(synthetic, "discovery", "random", tmp_path / "run", sampler="frontier")


def test_a_sampler_changes_no_episode(synthetic):
    plain, other = make_env(synthetic), make_env(synthetic, sampler="frontier")
    other.reset(seed=1)
    plain.unwrapped.restore(other.unwrapped.save())  # of equal settings
    uniform = make_env(synthetic, sampler="uniform")
    ids = [[env.reset(seed=seed)[1] for seed in range(9)] for env in (plain, uniform)]
    assert ids[0] == ids[1]
    assert EnvConfig().environment == EnvConfig(sampler="frontier").environment
    with pytest.raises(UnknownNameError, match=r"no sampler named 'fronteer'.*'frontier'"):
        make_env(synthetic, sampler="fronteer")
    with pytest.raises(DataError, match=r"sampler frontier has no option 'epochs'"):
        make_env(synthetic, sampler="frontier", epochs=True)
