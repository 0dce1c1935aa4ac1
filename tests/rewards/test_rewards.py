"""Rewards: each by a computation of its own, and what shaping may not change."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import get_type_hints

import pytest
from helpers import act, arena_topics, call, gold_of, make_env, playing, within_reach
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import DataError, UnknownNameError
from arena.rewards import REWARDS, Progress, Seen, make_rewards

ALL = "gain+final+shaped+cost"


def shown_ids(text: str) -> set[str]:
    """Every id of a paper in a result."""
    found = json.loads(text)
    lists = [found.get(key) for key in ("hits", "references", "citations")]
    listed = {paper["id"] for papers in lists if isinstance(papers, list) for paper in papers}
    # A list of links names the paper that it was asked for, but shows the others.
    return listed | ({found["id"]} if "text" in found else set())


def played(env, actions) -> list[tuple]:
    """Steps up to the end of the episode or of the actions."""
    steps = []
    for action in actions:
        steps.append(env.step(action))
        if steps[-1][2] or steps[-1][3]:
            break
    return steps


@pytest.fixture(scope="module")
def small(synthetic):
    """The choices of policies: a survey of `synthetic`, its papers in reach and its gold."""
    topic = sorted(arena_topics(synthetic))[2]
    return topic, within_reach(synthetic, topic), sorted(gold_of(synthetic, topic))


# A policy: calls with numbers that stand for words and papers.
moves = st.lists(
    st.tuples(
        st.sampled_from(["search", "search", "read", "references", "citations", "select", "junk"]),
        st.integers(0, 10**6),
    ),
    max_size=12,
)
ends = st.sampled_from(["submit", "finish", "go on"])


def actions_of(synthetic, small, chosen, end):
    topic, papers, gold = small
    words = arena_topics(synthetic)[topic]["title"].split()
    actions = []
    for tool, number in chosen:
        paper = (gold if number % 2 else papers)[number % len(gold if number % 2 else papers)]
        actions.append(
            {
                "search": call("search", query=words[number % len(words)], k=1 + number % 30),
                "select": call("select", paper_ids=[paper]),
                "junk": call("read", paper_id=number),
            }.get(tool, call(tool, paper_id=paper))
        )
    if end == "submit":
        actions.append(call("submit", paper_ids=gold[: len(chosen) * 3]))
    elif end == "finish":
        actions.append(call("finish"))
    return actions


@given(chosen=moves, end=ends)
def test_gain_adds_up_to_the_recall_of_what_was_shown(synthetic, small, chosen, end):
    topic, _, gold = small
    env = playing(synthetic, topic, reward="gain")
    shown, seen_before = set(), set()
    total = 0.0
    for step in played(env, actions_of(synthetic, small, chosen, end)):
        shown |= shown_ids(step[0]["result"])
        new = (shown & set(gold)) - seen_before
        seen_before |= new
        assert step[1] == len(new) / len(gold) == step[4]["reward_terms"]["gain"]
        assert list(step[4]["reward_terms"]) == ["gain"]
        total += step[1]
    assert total == pytest.approx(len(shown & set(gold)) / len(gold), abs=1e-12)


def test_gain_by_hand(mini):
    # Gold of sv:1: p:leap, p:day, 12345 and p:last.
    env = playing(mini, "sv:1", reward="gain")
    assert env.step(call("search", query="encoders"))[1] == 2 / 4  # p:leap, p:day
    assert env.step(call("search", query="encoders"))[1] == 0.0
    assert env.step(call("references", paper_id="p:day"))[1] == 0.0  # p:old, p:leap
    assert env.step(call("citations", paper_id="p:day"))[1] == 1 / 4  # 12345
    assert env.step(call("select", paper_ids=["p:last"]))[1] == 0.0  # nothing was shown
    assert env.step(call("read", paper_id="p:last"))[1] == 1 / 4
    assert env.step(call("submit", paper_ids=["p:last"]))[1] == 0.0


def test_final_pays_the_headline_at_the_end_alone(mini):
    for name, expected in (
        ("arena/Discovery-v0", 2 / 4),
        (
            "arena/Selection-v0",
            (2 + 1 / math.log2(3)) / (2 + sum(1 / math.log2(i) for i in (3, 4, 5))),
        ),
    ):
        env = playing(mini, "sv:1", name, reward="final")
        assert env.step(call("search", query="encoders"))[1] == 0.0
        step = env.step(call("submit", paper_ids=["p:leap", "p:day"]))
        assert step[1] == pytest.approx(expected)
        assert step[4]["reward_terms"] == {"final": step[1]}
    cut_off = playing(mini, "sv:1", reward="final", max_steps=1).step(None)
    assert (cut_off[1], cut_off[3]) == (0.0, True)


@given(
    chosen=moves,
    end=ends,
    discount=st.sampled_from([0.0, 0.5, 0.9, 0.99, 1.0]) | st.floats(0, 1),
    weight=st.sampled_from([0.0, 0.1, 1.0, 10.0]),
    steps=st.integers(1, 14),
    searches=st.integers(0, 6),
    characters=st.sampled_from([300, 3_000, 10**6]),
)
def test_shaping_leaves_every_return_as_it_was(
    synthetic, small, chosen, end, discount, weight, steps, searches, characters
):
    """Whatever a policy does, its discounted return is that of `final`.

    By theorem 1 of Ng, Harada and Russell (1999) the two differ by the potential of the first
    state, here 0, and that of the last one, which is 0 because all episodes end: with a hand-in,
    with finish, or cut off by any of the budgets.
    """
    options = {"max_steps": steps, "max_searches": searches, "max_characters": characters}
    chosen_actions = [*actions_of(synthetic, small, chosen, end), *[None] * steps]  # on to an end
    shaping = {"shaped": {"discount": discount, "weight": weight}}
    shaped = played(
        playing(synthetic, small[0], reward="shaped", reward_options=shaping, **options),
        chosen_actions,
    )
    final = played(playing(synthetic, small[0], reward="final", **options), chosen_actions)
    assert final[-1][2] or final[-1][3]
    assert [s[0] for s in shaped] == [s[0] for s in final]

    def discounted(steps):
        # Exact sums; what is left are the roundings of the single rewards, a few units in the
        # last place of numbers up to `weight` + 1.
        return sum(Fraction(discount) ** t * Fraction(step[1]) for t, step in enumerate(steps))

    assert abs(discounted(shaped) - discounted(final)) <= 1e-13 * (1 + weight)


def test_shaping_of_an_episode_that_continues(mini):
    """Before the end the difference is the discounted potential of the last state."""
    shaping = {"shaped": {"discount": 0.5, "weight": 3.0}}
    env = playing(mini, "sv:1", reward="shaped", reward_options=shaping)
    # Potential after it: 3 * 2 / 4.
    assert env.step(call("search", query="encoders"))[4]["reward_terms"] == {
        "shaped.final": 0.0,
        "shaped.potential": 0.5 * 1.5,
    }
    assert env.step(call("select", paper_ids=[]))[1] == 0.5 * 1.5 - 1.5
    assert env.step(call("citations", paper_id="p:day"))[1] == 0.5 * 2.25 - 1.5
    assert env.step(call("submit", paper_ids=["p:leap", "p:day"]))[4]["reward_terms"] == {
        "shaped.final": 0.5,
        "shaped.potential": -2.25,
    }


def test_shaping_where_papers_are_given(mini):
    """The first state has a potential of its own, the same for every policy."""
    for actions in ([], [call("search", query="encoders")], [call("read", paper_id="p:day")] * 2):
        env = playing(mini, "sv:1", "arena/Organization-v0", reward="shaped")
        submitting = call("organize", mind_map={"label": "x", "children": ["Rhenium"]})
        steps = played(env, [*actions, submitting])
        total = math.fsum(step[1] for step in steps)
        assert total == pytest.approx(steps[-1][4]["metrics"]["heading_soft_recall"] - 1.0)


def test_cost_by_hand(mini):
    prices = {"per_search": 0.5, "per_read": 0.25, "per_character": 2.0**-10}
    env = playing(mini, "sv:1", reward="cost", reward_options={"cost": prices})
    for action, searches, reads in (
        (call("search", query="index"), 1, 0),
        (call("search", query="zirconium"), 1, 0),
        (call("read", paper_id="p:day"), 0, 1),
        (call("references", paper_id="p:day"), 0, 1),
        (call("citations", paper_id="p:day"), 0, 1),
        (call("select", paper_ids=["p:day"]), 0, 0),
        (call("read", paper_id="nowhere"), 0, 0),
        (None, 0, 0),
        (call("submit", paper_ids=["p:day"]), 0, 0),
    ):
        step = env.step(action)
        characters = len(step[0]["result"]) if searches or reads else 0
        assert step[4]["reward_terms"] == {
            "cost.searches": -0.5 * searches,
            "cost.reads": -0.25 * reads,
            "cost.characters": -characters / 1024,
        }
        assert step[1] == -0.5 * searches - 0.25 * reads - characters / 1024


@pytest.mark.parametrize(
    "name",
    ["arena/Discovery-v0", "arena/Selection-v0", "arena/Organization-v0", "arena/Pipeline-v0"],
)
def test_a_sum_is_the_sum(synthetic, name):
    """Every term of every reward is there, with the value that it has alone."""
    topic = sorted(arena_topics(synthetic))[0]
    query = arena_topics(synthetic)[topic]["title"]
    actions = [call("search", query=query, k=50), None, call("finish")]
    alone: list[dict[str, float]] = [{} for _ in actions]
    for reward in ALL.split("+"):
        for terms, step in zip(
            alone, played(playing(synthetic, topic, name, reward=reward), actions), strict=True
        ):
            terms |= step[4]["reward_terms"]
            assert step[1] == sum(step[4]["reward_terms"].values())
            assert all(type(value) is float for value in step[4]["reward_terms"].values())
    together = played(playing(synthetic, topic, name, reward=ALL), actions)
    assert [step[4]["reward_terms"] for step in together] == alone
    assert [step[1] for step in together] == pytest.approx([math.fsum(t.values()) for t in alone])
    assert sorted(alone[0]) == [
        "cost.characters", "cost.reads", "cost.searches", "final", "gain", "shaped.final",
        "shaped.potential",
    ]  # fmt: skip


def test_a_topic_without_gold_pays_nothing(mini):
    for name in ("arena/Discovery-v0", "arena/Organization-v0", "arena/Pipeline-v0"):
        env = playing(mini, "sv:3", name, reward=ALL)
        act(env, "search", query="index")
        *_, info = env.step(call("finish"))
        assert {k: v for k, v in info["reward_terms"].items() if v} == {}
        assert info["metrics"] == {}


def test_a_reward_reads_no_more_than_progress_tells():
    """Progress is numbers and what the agent has seen: a reward cannot hand on a label."""
    numbers = {int, bool, float | None, Mapping[str, float]}
    assert set(get_type_hints(Progress).values()) == {*numbers, str, Sequence[Seen]}


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("gain+costs", None, "no reward named 'costs'. Did you mean 'cost'"),
        ("gain+gain", None, "names one reward twice"),
        ("gain", {"cost": {}}, "reward_options names 'cost'. Known: gain"),
        ("cost", {"cost": {"per_search": -1}}, "per_search=-1: give a number from 0 to 1000"),
        ("shaped", {"shaped": {"discount": 1.01}}, "discount=1.01: give a number from 0 to 1"),
    ],
)  # fmt: skip
def test_wrong_names_and_options_are_refused(synthetic, name, options, message):
    with pytest.raises((DataError, UnknownNameError), match=message):
        make_rewards(name, options)
    with pytest.raises((DataError, UnknownNameError), match=message):
        make_env(synthetic, reward=name, reward_options=options)


@pytest.mark.parametrize("given", [["gain", REWARDS.get("cost")], REWARDS.get("cost"), len])
def test_a_class_is_no_reward(synthetic, given):
    with pytest.raises(DataError, match=r"reward=.*, an object of a Reward \(not its class\)"):
        make_env(synthetic, reward=given)


def test_every_reward_is_tested_here():
    assert REWARDS.names() == sorted([*ALL.split("+"), "citation_gain", "ranker"])


def test_citation_gain_pays_each_reference_once(synthetic, small):
    topic, papers, gold = small
    env = make_env(synthetic, "arena/Report-v0", reward="citation_gain")
    env.reset(options={"topic_id": topic})
    other = next(paper for paper in papers if paper not in gold)
    steps = [
        (call("write", heading="A", text=f"So [@{gold[0]}; @{gold[1]}; @{other}; @nope]."), 2),
        (call("write", heading="A", text=f"So [@{gold[0]}]."), 0),
        (call("write", heading="B", text=f"So [@{gold[1]}; @{gold[2]}]."), 1),
        (call("submit_report", text=f"So [@{gold[2]}; @{gold[3]}]."), 1),
    ]
    for action, new in steps:
        _, paid, *_, info = env.step(action)
        assert paid == new / len(gold)
        assert info["reward_terms"] == {"citation_gain": new / len(gold)}
