"""Episodes that branch: what follows a restored state is what followed it directly."""

from __future__ import annotations

import json
import pickle
import random

import gymnasium
import pytest
from helpers import arena_topics, call, gold_of, make_env, playing
from hypothesis import given
from hypothesis import strategies as st

from arena.errors import ArenaError, DataError
from arena.session import Sessions
from arena.tasks import environment_ids
from arena.testing.checked import random_play
from arena.testing.values import plain

NAMES = [name for name in environment_ids() if "Question" not in name]


@pytest.fixture(scope="module")
def environments(synthetic):
    made = {name: [make_env(synthetic, name, max_steps=12) for _ in range(2)] for name in NAMES}
    pool = {"max_steps": 12, "observation": "pool", "max_result_characters": 2_000}
    return made | {"pool": [make_env(synthetic, "arena/Pipeline-v0", **pool) for _ in range(2)]}


def go(env, act, observation):
    """Step until the end; yield what each step returned, in plain values."""
    over = False
    while not over:
        step = env.step(act(observation))
        observation, over = step[0], step[2] or step[3]
        yield plain(step)


@given(name=st.sampled_from([*NAMES, "pool"]), seed=st.integers(0, 2**16), data=st.data())
def test_what_follows_is_byte_for_byte_the_same(environments, name, seed, data):
    env, other = environments[name]
    observation, _ = env.reset(seed=seed)
    act, actions, states = random_play(env, seed, 12), [], [env.unwrapped.save()]

    def noted(observation):
        actions.append(act(observation))
        return actions[-1]

    steps = []
    for step in go(env, noted, observation):
        steps.append(step)
        states.append(env.unwrapped.save())
    other.reset(seed=data.draw(st.integers(0, 3)))
    for _ in range(2):  # into an episode of any topic, then into this one again
        at = data.draw(st.integers(0, len(steps)))
        saved = data.draw(st.sampled_from([pickle.dumps, json.dumps]))(states[at])
        load = pickle.loads if isinstance(saved, bytes) else json.loads
        now = other.unwrapped.restore(load(saved))
        assert plain(now) == (plain(observation) if at == 0 else steps[at - 1][0])
        assert other.unwrapped.save() == states[at]
        rest = iter(actions[at:])
        if at < len(steps):
            assert list(go(other, lambda _: next(rest), now)) == steps[at:]  # noqa: B023


def test_a_state_after_the_end_is_an_end(synthetic):
    env = playing(synthetic, min(arena_topics(synthetic)))
    env.step(call("finish"))
    env.unwrapped.restore(env.unwrapped.save())
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(call("finish"))
    env.unwrapped.close()
    with pytest.raises(gymnasium.error.ResetNeeded, match="no episode"):
        env.unwrapped.save()


def test_a_state_has_no_label_and_does_not_change(synthetic):
    topic = min(arena_topics(synthetic))
    env = playing(synthetic, topic)
    env.step(call("search", query="membrane", k=5))
    state = env.unwrapped.save()
    before = json.dumps(state)
    hidden = gold_of(synthetic, topic) - set(state["episode"]["shown"])
    assert len(hidden) > 5 and not any(paper in before for paper in hidden)
    env.step(call("search", query="lattice", k=5))
    env.unwrapped.restore(state)
    env.step(call("select", paper_ids=state["episode"]["shown"]))
    assert json.dumps(state) == before


@pytest.mark.parametrize("what", ["corpus", "settings", "release"])
def test_a_state_from_elsewhere_is_refused(synthetic, mini, what, monkeypatch):
    state = playing(synthetic, min(arena_topics(synthetic))).unwrapped.save()
    if what == "release":
        state["of"]["release"] = "0.1.0"
    env = make_env(mini if what == "corpus" else synthetic, max_k=7 if what == "settings" else 100)
    with pytest.raises(DataError, match=f"^the state is of another {what}: [^\n]+$"):
        env.unwrapped.restore(state)


@given(seed=st.integers(0, 2**16), at=st.integers(0, 4))
def test_sessions_earn_the_same_from_a_state_on(environments, seed, at):
    sessions = Sessions(environments["arena/Discovery-v0"][0])
    one, other = (sessions.open(seed=seed + n) for n in range(2))
    words = one.first["topic"].split()
    rng = random.Random(seed)
    actions = [call("search", query=rng.choice(words), k=3) for _ in range(4)]
    for number in range(5):
        if number == at:
            state = pickle.loads(pickle.dumps(one.save()))
        if number < 4:
            one.step(actions[number])
    other.step(call("search", query="membrane"))
    other.restore(state)
    for action in actions[at:]:
        other.step(action)
    assert other.played == one.played
    assert other.finish() == one.finish()
    assert other.totals() == one.totals()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("shown", ["sv:1"], "shown has 'sv:1', which is out of reach"),
        ("selected", ["p:later"], "selected has 'p:later', which is out of reach"),
        ("cited", [3], "cited has 3, which is out of reach"),
        ("selected", 3, "selected=3"),
        ("digested", {"nowhere": True}, "digested has 'nowhere'"),
        ("budget", {"steps": 1}, "budget={'steps': 1}: this is no state of an episode of 'sv:1'"),
        ("budget.searches", 51, "budget=.*'searches': 51"),
        ("budget.reads", -1, "budget=.*'reads': -1"),
        ("budget.steps", 7.0, r"budget=.*'steps': 7\.0"),
        ("at", 2, "at=2"),
        ("answers", {"other": []}, "KeyError: .*other"),
        ("answers", {"discovery": "p:leap"}, "answers={'discovery': 'p:leap'}"),
        ("draft", [["heading", "text", [3]]], "draft="),
        ("result", "not JSON", "result='not JSON'"),
        ("over", 1, "over=1"),
        ("pool", {"scores": {"sv:1": 1.0}, "actions": [], "listed": 0}, "pool has 'sv:1'"),
        ("pool", {"scores": {}, "actions": [], "listed": 1}, "pool={'scores': {}"),
        ("seen", [["search", {}, "[]"]], "seen="),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(mini, name, value, message):
    settings = {"reward": "ranker"} if name == "seen" else {"observation": "pool"}
    env = playing(mini, "sv:1", **settings).unwrapped
    env.step(call("search", query="index"))
    good = env.save()
    bad = json.loads(json.dumps(good))
    *within, last = name.split(".")
    place = bad["episode"]
    for key in within:
        place = place[key]
    place[last] = value
    with pytest.raises(DataError, match=f"^{message}"):
        env.restore(bad)
    assert env.save() == good
    env.restore(good)
    for bad in ("text", {}, {**good, "episode": []}, {**good, "topic_id": "nobody"}):
        with pytest.raises(ArenaError, match=r"no state|no topic 'nobody'"):
            env.restore(bad)
    assert env.save() == good


def test_a_session_refuses_a_state_and_goes_on(mini):
    session = Sessions(make_env(mini)).open(topic_id="sv:1")
    session.step(call("search", query="index"))
    good = session.save()
    for bad in ({}, {**good, "rewards": "all"}, {**good, "env": {**good["env"], "topic_id": 3}}):
        with pytest.raises(DataError, match="no state"):
            session.restore(bad)
        assert session.save() == good
