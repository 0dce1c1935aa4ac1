"""Actions: every kind of bad one is answered, and the spaces that they are drawn from."""

from __future__ import annotations

import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from helpers import arena_surveys, call, make_env, result
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.envs import TextSpace, ToolCallSpace
from arena.envs.episode import TOOLS

BAD_ACTIONS = [
    (None, "is no object"),
    (7, "is no object"),
    ([], "is no object"),
    ("", "is no JSON"),
    ("search for cats", "is no JSON"),
    (b"\xff\xfe", "is no JSON"),
    ("[" * 100_000, "is no JSON"),
    ('"search"', "is no object"),
    ({}, "no tool None"),
    ({"tool": "serach", "arguments": {}}, "Did you mean 'search'"),
    ({"tool": ["search"]}, "no tool"),
    ({"tool": 10**5000}, "no tool a int"),
    ({"tool": "search", "args": {}}, "no key 'args'"),
    ({"tool": "search", "arguments": "cats"}, "is no object"),
    (call("search"), "needs the argument 'query'"),
    (call("search", query=5), "query=5 is not a string"),
    (call("search", query=["cats"]), "is not a string"),
    (call("search", query="cats", k="5"), "k='5' is not an integer"),
    (call("search", query="cats", k=5.0), "is not an integer"),
    (call("search", query="cats", k=True), "is not an integer"),
    (call("search", query="cats", k=0), "Give k from 1 to 100"),
    (call("search", query="cats", k=-3), "Give k from 1 to 100"),
    (call("search", query="cats", k=101), "Give k from 1 to 100"),
    (call("search", query="cats", k=10**5000), "Give k from 1 to 100"),
    (call("search", query="cats", limit=3), "takes no argument 'limit'"),
    (call("search", query="c" * 1_000_000), "has 1000000 characters"),
    (call("read", paper_id="nothing"), "no paper 'nothing' here"),
    (call("read", paper_id="\ud800" * 100), "no paper"),
    (call("read", paper_id="x" * 1_000_000), "no paper"),
    (call("read", paper_id=None), "is not a string"),
    (call("submit", paper_ids="w7-1"), "is not a list of strings"),
    (call("submit", paper_ids=[1, 2]), "is not a list of strings"),
    (call("submit", paper_ids={"a": 1}), "is not a list of strings"),
    (call("submit", paper_ids=["nothing"]), "no paper 'nothing' here (1 of 1 ids)"),
    (call("submit", paper_ids=[str(n) for n in range(1001)]), "1001 ids are too many"),
    (call("open", path="/etc/passwd"), "no tool 'open'"),
]


@pytest.mark.parametrize(("action", "message"), BAD_ACTIONS, ids=range(len(BAD_ACTIONS)))
def test_a_bad_action_is_answered(world, action, message):
    env = make_env(world)
    env.reset(seed=1)
    step = env.step(action)
    assert message in result(step)["error"]
    assert len(step[0]["result"]) < 600
    assert step[1:4] == (0.0, False, False)
    assert step[0]["budget"] == {"steps": 99, "searches": 50}  # a step, not a search
    assert env.observation_space.contains(step[0])
    assert result(env.step(call("search", query="membrane")))["hits"]  # it goes on


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=12,
)

nearly = st.fixed_dictionaries(
    {"tool": st.sampled_from([*TOOLS, "organize"]) | junk},
    optional={
        "arguments": st.dictionaries(
            st.sampled_from(["query", "k", "paper_id", "section", "page", "paper_ids"]), junk
        )
        | junk
    },
)


@settings(max_examples=300, deadline=None)
@given(action=junk | nearly, as_text=st.booleans())
def test_no_action_breaks_an_episode(world_env, action, as_text):
    world_env.reset(seed=1)
    if as_text:
        action = json.dumps(action)
    observation, _, terminated, truncated, _ = world_env.step(action)
    assert world_env.observation_space.contains(observation)
    assert not truncated
    if not terminated:  # an empty submission is a submission
        world_env.step(call("search", query="membrane"))


@pytest.fixture(scope="module")
def world_env(world):
    return make_env(world)


def test_an_action_may_be_text(world):
    env = make_env(world)
    env.reset(seed=1)
    as_object = env.step(call("search", query="membrane", k=3))
    env.reset(seed=1)
    as_text = env.step('{"tool": "search", "arguments": {"query": "membrane", "k": 3}}')
    assert as_text == as_object


def test_hidden_papers_are_unknown(world):
    env = make_env(world)
    _, info = env.reset(seed=1)
    papers = pq.read_table(world / "papers.parquet").to_pylist()
    cutoff = arena_surveys(world)[info["survey"]]["date"]
    hidden = [
        next(p["id"] for p in papers if p["date"] and p["date"] > cutoff and not p["is_survey"]),
        next(p["id"] for p in papers if p["date"] is None),
        next(p["id"] for p in papers if p["is_survey"] and p["date"] < cutoff),
        info["survey"],
    ]
    expected = result(env.step(call("read", paper_id="w0-0000000000")))["error"]
    for paper_id in hidden:
        for action in (call("read", paper_id=paper_id), call("submit", paper_ids=[paper_id])):
            answer = env.step(action)
            assert set(result(answer)) == {"error"}
            if action["tool"] == "read":
                assert result(answer)["error"] == expected.replace("w0-0000000000", paper_id)


def test_a_repeated_id_counts_once(world):
    env = make_env(world)
    env.reset(seed=1)
    ids = [hit["id"] for hit in result(env.step(call("search", query="membrane", k=2)))["hits"]]
    info = env.step(call("submit", paper_ids=[ids[0], ids[1], ids[0]]))[4]
    assert info["submitted"] == ids


class Forged(str):
    """A string that is equal to nothing but itself, and to anything it is asked about."""

    __hash__ = str.__hash__

    def __eq__(self, other):
        return self is other if isinstance(other, Forged) else str.__eq__(self, other)


def test_ids_with_an_equality_of_their_own_count_once(world):
    env = make_env(world)
    env.reset(seed=1)
    hit = result(env.step(call("search", query="membrane", k=1)))["hits"][0]
    info = env.step(call("submit", paper_ids=[Forged(hit["id"]) for _ in range(900)]))[4]
    assert info["submitted"] == [hit["id"]]
    assert type(info["submitted"][0]) is str
    assert max(info["metrics"].values()) <= 1


def test_text_space():
    space = TextSpace(20_000)
    assert space.contains("é🜁\x00\ud800" * 5_000)
    assert not space.contains("x" * 20_001)
    assert not space.contains(b"bytes")
    space.seed(1)
    samples = [space.sample() for _ in range(50)]
    space.seed(1)
    assert samples == [space.sample() for _ in range(50)]
    assert all(space.contains(text) for text in samples)
    assert any(not text.isascii() for text in samples)
    assert space == TextSpace(20_000) != TextSpace(5)


def test_tool_call_space():
    space = ToolCallSpace(TOOLS)
    space.seed(1)
    samples = [space.sample() for _ in range(200)]
    space.seed(1)
    assert samples == [space.sample() for _ in range(200)]
    assert {sample["tool"] for sample in samples} == set(TOOLS)
    assert all(space.contains(s) and space.contains(json.dumps(s)) for s in samples)
    assert space.contains(call("search", query="x", k=np.int64(3)))
    for action, _ in BAD_ACTIONS[:24]:
        if not (isinstance(action, dict) and isinstance(action.get("arguments", {}), dict)):
            assert not space.contains(action)
