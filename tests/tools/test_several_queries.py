"""A search of several queries: its hits by hand and by single searches, its cost, integrations."""

from __future__ import annotations

import json

import pytest
from helpers import act, arena_topics, call, playing
from hypothesis import given
from hypothesis import strategies as st

import arena
from arena.agents.researcher import Desk


@pytest.fixture(scope="module")
def env(synthetic):
    endless = {"max_searches": 10**5, "max_steps": 10**5, "max_characters": 10**9}
    return playing(synthetic, min(arena_topics(synthetic)), **endless)


def test_hits_are_fused_by_hand(mini):
    env = playing(mini, "sv:1")
    # Alone "index" finds p:old, Z:tie, é:tie, and "dense" p:day.
    assert [h["id"] for h in act(env, "search", query="dense")["hits"]] == ["p:day"]
    found = act(env, "search", queries=["dense", "index"])
    assert [(h["id"], h["score"]) for h in found["hits"]] == [
        ("p:old", 1 / 61),  # dated before p:day
        ("p:day", 1 / 61),
        ("Z:tie", 1 / 62),
        ("é:tie", 1 / 63),
    ]
    twice = act(env, "search", queries=["index", "index", "dense"], k=2, offset=1)["hits"]
    assert [(h["id"], h["score"]) for h in twice] == [("Z:tie", 2 / 62), ("é:tie", 2 / 63)]
    nothing = {"hits": [], "message": "Nothing matches. Try other words."}
    assert act(env, "search", queries=["zirconium", " "]) == nothing


@given(data=st.data())
def test_lists_are_those_of_single_searches(env, data):
    words = env.unwrapped.topics[min(env.unwrapped.topics)].split()
    texts = st.lists(st.sampled_from([*words, "zirconium"]), min_size=1, max_size=3).map(" ".join)
    queries = data.draw(st.lists(texts, min_size=2, max_size=16))
    k, offset = data.draw(st.integers(1, 30)), data.draw(st.integers(0, 30))
    lists = act(env, "search", queries=queries, k=k, offset=offset, fuse=False)["lists"]
    assert lists == [act(env, "search", query=q, k=k, offset=offset) for q in queries]


@given(data=st.data())
def test_the_order_of_queries_and_pages_change_no_hit(env, data):
    words = env.unwrapped.topics[min(env.unwrapped.topics)].split()
    queries = data.draw(st.lists(st.sampled_from(words), min_size=2, max_size=6))
    long = act(env, "search", queries=queries, k=40)["hits"]
    assert act(env, "search", queries=queries[::-1], k=40)["hits"] == long
    at = data.draw(st.integers(0, 39))
    assert act(env, "search", queries=queries, k=40 - at, offset=at).get("hits") == long[at:]


def test_each_query_costs_a_search_and_the_call_a_step(mini):
    env = playing(mini, "sv:1", max_searches=5)
    for asked, left in ((3, 2), (3, 2), (2, 0)):
        observation, *_, truncated, _ = env.step(call("search", queries=["index"] * asked))
        assert (observation["budget"]["searches"], truncated) == (left, False)
    assert observation["budget"]["steps"] == 97
    assert env.step(call("search", queries=["index"] * 2))[3]  # as with one query


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"queries": ["x"]}, "queries has 1 texts. Give 2 to 16."),
        ({"queries": ["x", "y"], "query": "z"}, "'query' or 'queries', and not both."),
        ({"queries": ["x", "y"], "fuse": "no"}, "fuse='no' is not true or false."),
        ({"queries": ["x"] * 4}, "4 queries need a search each, and 3 are left."),
        ({"queries": ["x", "y" * 10_001]}, "Give at most 10000."),
    ],
    ids=range(5),
)
def test_what_is_refused_costs_no_search(mini, arguments, message):
    observation, *_, truncated, _ = playing(mini, "sv:1", max_searches=3).step(
        call("search", **arguments)
    )
    assert message in json.loads(observation["result"])["error"]
    assert (observation["budget"]["searches"], truncated) == (3, False)


def test_a_long_result_is_cut_in_every_list(mini):
    env = playing(mini, "sv:1", max_result_characters=250)
    found = act(env, "search", queries=["index", "index"], fuse=False)
    assert [len(part["hits"]) for part in found["lists"]] == [1, 1]
    assert found["cut"] == "1 of 3"


def test_a_desk_searches_together(mini):
    env = playing(mini, "sv:1", max_searches=3)
    observation, _ = env.reset(options={"topic_id": "sv:1"})
    desk = Desk(observation, arena.tool_schemas(env))

    def play(move):
        try:
            action = next(move)
            while True:
                desk.update(env.step(action)[0])
                action = move.send(desk.observation)
        except StopIteration as end:
            return end.value

    apart = play(desk.search_together(["dense", "index"], fuse=False))
    assert [[hit.id for hit in hits] for hits in apart] == [["p:day"], ["p:old", "Z:tie", "é:tie"]]
    assert set(desk.papers) == {"p:day", "p:old", "Z:tie", "é:tie"}
    ((first, *_),) = play(desk.search_together(["index", "dense", "leap"]))  # one search is left
    assert (first.id, desk.budget["searches"]) == ("p:old", 0)
    assert play(desk.search_together(["index", "dense"])) == []
