"""Sessions: keys, locks, time-outs, totals, and errors as results."""

from __future__ import annotations

import gc
import json
import math
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from gymnasium.error import ResetNeeded

from arena.errors import DataError, UnknownNameError
from arena.session import (
    CapacityError,
    ClosedSessionError,
    Sessions,
    UnknownSessionError,
)

SEARCH = {"tool": "search", "arguments": {"query": "nested lattice"}}
FINISH: dict[str, Any] = {"tool": "finish", "arguments": {}}


@pytest.fixture
def env(synthetic: Path) -> Any:
    return gymnasium.make("arena/Discovery-v0", corpus=synthetic, reward="gain")


def test_totals_are_those_of_the_plain_episode(env: Any) -> None:
    sessions = Sessions(env)
    session = sessions.open("a", seed=3)
    observation, info = env.reset(seed=3)
    assert session.first == observation
    assert session.topic_id == info["topic_id"]
    rewards, budget = [], observation["budget"]
    search = {"tool": "search", "arguments": {"query": observation["topic"]}}
    for action in (search, {"tool": "bad"}, FINISH):
        expected = env.step(action)
        step = session.step(action)
        assert step[:5] == expected
        assert step.failed == (action == {"tool": "bad"})
        rewards.append(expected[1])
        budget = expected[0]["budget"]
    totals = session.totals()
    assert totals.reward == math.fsum(rewards) > 0
    assert totals.terms == {"gain": totals.reward}
    assert totals.metrics == expected[4]["metrics"]
    assert (totals.steps, totals.over, totals.budget) == (3, True, budget)
    assert sessions.close("a") == totals
    with pytest.raises(UnknownSessionError, match="no open session 'a'"):
        sessions.get("a")


@pytest.mark.parametrize("reward", ["gain+recall@100", "shaped", "gain+cost"])
def test_what_a_trainer_dropped_was_never_asked(synthetic: Path, reward: str) -> None:
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic, reward=reward)
    query = env.reset(seed=3)[0]["topic"]
    one, two = ({"tool": "search", "arguments": {"query": query, "offset": n}} for n in (0, 10))
    select = {"tool": "select", "arguments": {"paper_ids": []}}
    sessions = Sessions(env)

    def play(*actions: Any) -> tuple[Any, list[str]]:
        session = sessions.open(seed=3)
        return session, [session.step(action).text for action in actions]

    whole, texts = play(one, select, two)
    without = play(one, select)[0].finish()
    assert whole.finish("".join(texts[:1])) == without  # a small result shows nothing: it counts
    assert whole.finish("".join(texts)) == whole.finish() != without
    assert whole.finish("") == play(select)[0].finish()


def test_the_episode_of_a_model_that_stops_is_finished_once(synthetic: Path) -> None:
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic, reward="gain+recall@100")
    observation, _ = env.reset(seed=3)
    observation, *_ = env.step({"tool": "search", "arguments": {"query": observation["topic"]}})
    papers = [hit["id"] for hit in json.loads(observation["result"])["hits"]]
    sessions = Sessions(env)
    totals = []
    for key, end in (("finish", FINISH), ("stop", None), ("close", None)):
        session = sessions.open(key, seed=3)
        session.step({"tool": "search", "arguments": {"query": session.first["topic"]}})
        session.step({"tool": "select", "arguments": {"paper_ids": papers}})
        if end is not None:
            session.step(end)
        totals.append(sessions.close(key) if key == "close" else session.finish())
        assert session.finish() == totals[-1]
    assert totals[0] == totals[1] == totals[2]
    assert totals[0].terms["recall@100"] == totals[0].metrics["recall@100"] > 0
    assert (totals[0].steps, totals[0].over) == (3, True)


def test_a_fork_shares_all_but_the_episode(env: Any) -> None:
    plain = env.unwrapped
    plain.reset(seed=3)
    fork = plain.fork()
    assert fork.action_space is plain.action_space  # and so nothing was made again
    with pytest.raises(ResetNeeded):
        fork.step(SEARCH)
    assert fork.reset(seed=5) == fork.reset(seed=5)
    assert plain.step(SEARCH)[4]["topic_id"] == plain.reset(seed=3)[1]["topic_id"]


BREAKS = '''
from arena.tools import Tool

def divide(episode, number: int) -> dict:
    """Divide one.

    Args:
        number: What to divide by.
    """
    return {"result": 1 // number}

breaks = Tool.from_function(divide)
'''


def test_a_tool_that_breaks_ends_its_own_session_alone(synthetic: Path, tmp_path: Path) -> None:
    (tmp_path / "breaks.py").write_text(BREAKS, encoding="utf-8")
    tool = f"{tmp_path / 'breaks.py'}:breaks"
    sessions = Sessions(gymnasium.make("arena/Discovery-v0", corpus=synthetic, tools=[tool]))
    one, other = sessions.open("one", seed=1), sessions.open("other", seed=1)
    step = one.step({"tool": "divide", "arguments": {"number": 0}})
    assert step.failed
    assert "zero" not in step.observation["result"]
    assert one.over
    assert step.info["valid"] is one.finish().valid is sessions.close("one").valid is False
    assert other.totals().valid
    assert not other.step({"tool": "divide", "arguments": {"number": 1}}).failed


def test_keys(env: Any) -> None:
    sessions = Sessions(env)
    assert len(sessions.open().key) > 20
    sessions.open("mine")
    for key, message in (("mine", "open already"), ("", "1 to 200"), ("k" * 201, "1 to 200")):
        with pytest.raises(DataError, match=message):
            sessions.open(key)
    with pytest.raises(UnknownNameError):
        sessions.open("other", topic_id="no such topic")
    with pytest.raises(DataError, match="seed"):
        sessions.open("other", seed=-1)
    assert len(sessions) == 2


def test_all_in_use(env: Any) -> None:
    sessions = Sessions(env, max_sessions=2)
    sessions.open("a")
    sessions.open("b")
    with pytest.raises(CapacityError, match="2 of 2 sessions in use"):
        sessions.open("c")
    sessions.get("a").step(FINISH)
    sessions.open("c")  # in the place of one whose episode is over
    with pytest.raises(UnknownSessionError):
        sessions.get("a")
    assert len(sessions) == 2


def test_an_unused_session_ends_after_its_time(env: Any) -> None:
    now = [0.0]
    sessions = Sessions(env, idle=10, clock=lambda: now[0])
    sessions.open("left")
    sessions.open("used")
    now[0] = 9
    sessions.get("used").step(SEARCH)
    assert sessions.reap() == 1
    now[0] = 10
    assert sessions.reap() == 9
    with pytest.raises(ClosedSessionError, match="was not used for 10 seconds"):
        sessions.get("left")
    sessions.open("left")
    sessions.close("left")
    with pytest.raises(UnknownSessionError, match="never opened, or was closed"):
        sessions.get("left")
    assert len(sessions) == 1


def test_nobody_needs_to_ask_for_it(env: Any) -> None:
    sessions = Sessions(env, idle=0.05)
    gone = weakref.ref(sessions.open("left"))
    end = time.monotonic() + 20
    while len(sessions) and time.monotonic() < end:
        threading.Event().wait(0.01)
    gc.collect()
    assert len(sessions) == 0
    assert gone() is None


def test_many_threads_play_many_sessions(env: Any) -> None:
    sessions, results = Sessions(env), {}

    def play(key: str, seed: int) -> None:
        session = sessions.open(key, seed=seed)
        for _ in range(5):
            session.step(SEARCH)
        results[key] = sessions.close(key)

    seeds = [number % 4 for number in range(32)]
    threads = [threading.Thread(target=play, args=(f"{n}", s)) for n, s in enumerate(seeds)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, seed in enumerate(seeds):
        assert results[f"{number}"] == results[f"{seed}"]
        assert results[f"{number}"].steps == 6  # with `finish`
    assert len(sessions) == 0


def test_one_session_takes_one_step_at_a_time(env: Any) -> None:
    session = Sessions(env).open(seed=1)
    threads = [threading.Thread(target=session.step, args=(SEARCH,)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.totals().steps == 20
    assert session.totals().budget["searches"] == 30


def test_a_closed_episode_is_freed_without_the_garbage_collector(env: Any) -> None:
    """Servers freeze what outlives a full collection; a cycle there would never be freed."""
    sessions = Sessions(env)
    gc.collect()
    gc.disable()
    try:
        session = sessions.open("mine")
        for action in (SEARCH, {"tool": "nothing", "arguments": {}}, "not a call", FINISH):
            session.step(action)
        alive = [
            weakref.ref(session),
            weakref.ref(session._env),
            weakref.ref(session._env._episode),
        ]
        sessions.close("mine")
        del session
        assert [each() for each in alive] == [None] * 3
    finally:
        gc.enable()
