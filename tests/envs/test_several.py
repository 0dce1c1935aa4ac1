"""Several corpora in one environment, and corpora that are made on demand."""

from __future__ import annotations

import pickle
import shutil

import gymnasium
import pytest
from helpers import act, call, make_env, result

import arena
from arena.errors import DataError, UnknownNameError
from arena.session import Sessions


@pytest.fixture(scope="module")
def two(synthetic, mini, tmp_path_factory):
    """Two corpora, called big and small."""
    folder = tmp_path_factory.mktemp("two")
    return [shutil.copytree(synthetic, folder / "big"), shutil.copytree(mini, folder / "small")]


def test_a_topic_is_played_in_its_own_corpus(two):
    env, alone = make_env(two), [make_env(corpus) for corpus in two]
    ids = [
        f"{corpus.name}/{topic}"
        for corpus, each in zip(two, alone, strict=True)
        for topic in each.unwrapped.topics
    ]
    assert [*env.unwrapped.topics] == ids
    for corpus, each in zip(two, alone, strict=True):
        own = [*each.unwrapped.topics][-1]
        name = f"{corpus.name}/{own}"
        observation, info = env.reset(options={"topic_id": name})
        assert info == {"topic_id": name}
        assert observation == each.reset(options={"topic_id": own})[0]
        search = call("search", query=observation["topic"])
        step, expected = env.step(search), each.step(search)
        assert result(step) == result(expected)
        assert step[4] == expected[4] | {"topic_id": name}
        state = env.unwrapped.save()
        act(env, "finish")
        assert env.unwrapped.restore(state) == step[0]
        assert pickle.loads(pickle.dumps(env.unwrapped)).save() == state
    assert {env.reset(seed=seed)[1]["topic_id"].split("/")[0] for seed in range(30)} == {
        "big", "small",
    }  # fmt: skip


def test_vectors_sessions_and_rollouts(two):
    vectors = gymnasium.make_vec("arena/Discovery-v0", num_envs=2, corpus=two)
    names = [next(s for s in vectors.envs[0].topics if s.startswith(c.name)) for c in two]
    assert [*vectors.reset(options={"topic_ids": names})[1]["topic_id"]] == names
    sessions = Sessions.make(two)
    assert sessions.open(topic_id=names[1]).finish().topic_id == names[1]
    env = make_env(two, topics=names)
    rollouts = list(arena.rollouts("title", env, seed=0))
    assert {each.topic_id for each in rollouts} == {*names}
    assert all(each.metrics["recall@100"] > 0 for each in rollouts)
    with pytest.raises(DataError, match="credit='shapley' is for episodes of one corpus"):
        Sessions.make(two, credit="shapley")
    with pytest.raises(DataError, match="one corpus"):
        list(arena.rollouts("oracle", env))


def test_what_does_not_fit_is_named(two):
    env = make_env(two)
    with pytest.raises(UnknownNameError, match="'bigg/x' is of no corpus"):
        env.reset(options={"topic_id": "bigg/x"})
    with pytest.raises(
        UnknownNameError, match=r"'bigg/x' is of no corpus here\. Did you mean 'big"
    ):
        make_env(two, topics=["bigg/x"])
    with pytest.raises(DataError, match="have different names"):
        make_env([two[0], two[0]])
    with pytest.raises(DataError, match="a list of as many task sets"):
        make_env(two, tasks="tasks")
