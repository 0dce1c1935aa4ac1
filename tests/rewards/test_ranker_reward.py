"""The learned ranker as a reward: what is shown, judged by observations alone."""

from __future__ import annotations

import json
import pickle

import pytest
from helpers import arena_topics, call, playing

import arena
from arena.errors import DataError
from arena.ranker import FEATURES
from arena.tasks import TaskSet


@pytest.fixture
def ranker(tmp_path):
    """A file of one tree: 20, so 1 in the reward, for a hit of the topic, and -20 for others."""
    trees = {
        "roots": [0], "feature": [FEATURES.index("rank"), -1, -1], "threshold": [999.5, 0.0, 0.0],
        "left": [1, 0, 0], "right": [2, 0, 0], "value": [0.0, 20.0, -20.0],
    }  # fmt: skip
    content = {"format": "researcharena-ranker-1", "features": list(FEATURES), "made": {}}
    path = tmp_path / "ranker.json"
    path.write_text(json.dumps(content | {"trees": trees}))
    return str(path)


def paid(synthetic, ranker, *actions):
    env = playing(
        synthetic, min(arena_topics(synthetic)), reward="ranker",
        reward_options={"ranker": {"file": ranker}},
    )  # fmt: skip
    topic, rewards = env.unwrapped.restore(env.unwrapped.save())["topic"], []
    for action in actions:
        action["arguments"] = {
            name: topic if value == "TOPIC" else value
            for name, value in action["arguments"].items()
        }
        env.unwrapped.restore(pickle.loads(pickle.dumps(env.unwrapped.save())))
        rewards.append(env.step(action)[1])
    return rewards


def test_it_is_paid_at_the_end_for_hits_of_the_topic_alone(synthetic, ranker):
    topic = call("search", query="TOPIC", k=30)
    other = call("search", query="membrane", k=100)
    assert paid(synthetic, ranker, topic, call("finish")) == [0, 0.3]
    assert paid(synthetic, ranker, other, topic, topic, call("finish")) == [0, 0, 0, 0.3]
    assert paid(synthetic, ranker, other, call("finish")) == [0, 0]
    page = call("search", query="TOPIC", k=30, offset=30)
    assert paid(synthetic, ranker, topic, page, call("finish")) == [0, 0, 0.3]
    assert paid(synthetic, ranker, call("finish")) == [0]


def test_no_label_changes_it(synthetic, ranker, monkeypatch):
    actions = call("search", query="TOPIC", k=30), call("finish")
    gold = TaskSet.gold

    def other(self, topic):
        labels = gold(self, topic)
        return labels._replace(gains=dict(list(labels.gains.items())[:1]))

    monkeypatch.setattr(TaskSet, "gold", other)
    assert paid(synthetic, ranker, *actions) == [0, 0.3]


def test_links_of_a_paper_reach_the_ranker(synthetic):
    topic = min(arena_topics(synthetic))
    search = call("search", query=arena_topics(synthetic)[topic]["title"].lower(), k=5)
    best = json.loads(playing(synthetic, topic).step(search)[0]["result"])["hits"][0]["id"]
    without = paid(synthetic, "learned", search, call("finish"))[-1]
    linked = paid(synthetic, "learned", search, call("references", paper_id=best), call("finish"))[
        -1
    ]
    assert 0 < without < 1 and linked != without


def test_a_run_names_the_file(synthetic, ranker, tmp_path):
    options = {"ranker": {"file": ranker}}
    arena.run(
        synthetic, "discovery", "title", tmp_path / "run", topics=1, reward="ranker",
        reward_options=options,
    )  # fmt: skip
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert len(manifest["sha256"]["reward files"][0]) == 64


def test_it_needs_lists_and_a_file(synthetic, tmp_path):
    with pytest.raises(DataError, match="reads lists of papers, which observation='pool' does not"):
        playing(synthetic, "x", reward="gain+ranker", observation="pool")
    options = {"ranker": {"file": str(tmp_path / "no.json")}}
    with pytest.raises(DataError, match="there is no ranker"):
        playing(synthetic, "x", reward="ranker", reward_options=options)
