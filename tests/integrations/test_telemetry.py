"""Telemetry of trainers: the counts of an episode and of a step by hand, and the line of alarm."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from helpers import call

import arena.telemetry
from arena.session import Sessions, Totals
from arena.telemetry import WINDOW, Watch, alarm, summary, telemetry
from arena_integrations.trl import environment_factory, kept_results


def rollout(topic: str, reward: float, valid: bool = True, **numbers: int) -> Totals:
    found = telemetry([], [], 0) | numbers
    return Totals(topic, 1, reward, {}, {}, {}, True, valid, "submitted", found)


def test_the_numbers_of_an_episode_by_hand() -> None:
    actions = [
        call("search", query="Neural  ranking"),
        '{"tool": "search", "arguments": {"query": "neural ranking"}}',  # again
        call("search", query="neural ranking", offset=10),  # the next page
        call("search", query=" ?! "),  # empty
        {"name": "search", "arguments": '{"queries": ["a", "neural ranking"]}'},  # one again
        "no JSON", 3, call("read", paper_id="x"), call("submit", paper_ids=[]), None,
    ]  # fmt: skip
    refused = [False] * 5 + [True, True, False, False, True]
    assert telemetry(actions, refused, 700) == {
        "calls": 10, "queries": 6, "empty_queries": 1, "repeated_queries": 2, "refused": 3,
        "refused_in_a_row": 2, "characters": 700,
    }  # fmt: skip


def test_the_numbers_of_a_step_by_hand() -> None:
    step = [
        rollout("a", 0.5, queries=2, repeated_queries=2),
        rollout("a", 0.5, queries=2, empty_queries=1),
        rollout("b", 0.1, refused_in_a_row=4),
        rollout("b", 0.2),
        rollout("c", 0.0, valid=False),
        rollout("c", 0.3),  # alone in its group: the other is not valid
    ]
    found = summary(step)
    assert found["queries"] == pytest.approx(4 / 6)
    assert found["wasted_queries"] == pytest.approx(3 / 4)
    assert found["equal_groups"] == 1 / 2
    assert found["invalid_rollouts"] == pytest.approx(1 / 6)
    assert "equal_groups" not in summary(step[:1])
    line = alarm(found)
    assert "0.75 of the queries are empty or repeated" in line
    assert "0.17 of the rollouts are not valid" in line
    assert "groups" not in line and "in a row" not in line
    assert alarm(summary(step[2:4])) == ""


def test_a_step_without_a_gradient_is_one_line_in_the_log(caplog: Any) -> None:
    watch = Watch()
    with caplog.at_level(logging.WARNING, "arena.telemetry"):
        for number in range(WINDOW):
            assert not caplog.records
            watch.add(rollout(f"t{number % 8}", 0.25))
    (record,) = caplog.records
    assert "1 of the groups have equal rewards" in record.getMessage()
    with caplog.at_level(logging.WARNING, "arena.telemetry"):
        for number in range(2 * WINDOW):
            watch.add(rollout(f"t{number % 8}", 0.25, refused_in_a_row=4))
    (_, second) = caplog.records  # a rule is named once
    assert "calls in a row" in second.getMessage() and "groups" not in second.getMessage()


def test_sessions_say_why_an_episode_ended(mini: Path) -> None:
    sessions = Sessions.make(mini, max_refused=2)
    session = sessions.open(topic_id="sv:1")
    assert (session.totals().termination, session.totals().telemetry["calls"]) == ("", 0)
    session.step(call("search", query="encoders"))
    state = session.save()
    for _ in range(2):
        session.step(call("serch"))
    totals = session.finish()
    assert (totals.over, totals.termination) == (True, "refused")
    assert totals.telemetry["refused_in_a_row"] == totals.telemetry["refused"] == 2
    assert 0 < totals.telemetry["characters"] == 2_000_000 - totals.budget["characters"]
    session.restore(state)
    assert session.totals().telemetry["refused"] == 0
    session._env.start_step = lambda action: 1 / 0  # type: ignore[assignment,method-assign]
    session.step(call("finish"))
    assert (session.totals().valid, session.totals().termination) == (False, "failed")


def test_a_call_is_counted_once(mini: Path, monkeypatch: Any) -> None:
    """However often the totals are read; and they are those of all calls together."""
    read, queries = list[Any](), arena.telemetry._queries
    monkeypatch.setattr("arena.telemetry._queries", lambda asked: read.append(1) or queries(asked))
    session = Sessions.make(mini).open(topic_id="sv:1")
    actions = [call("search", query=word) for word in ("encoders", "Encoders", "trees")]
    actions.insert(2, call("serch"))
    for number, action in enumerate(actions, 1):
        session.step(action)
        totals = session.totals()
        assert len(read) <= number
    whole = telemetry(actions, session.save()["refused"], totals.telemetry["characters"])
    assert totals.telemetry == whole
    assert (whole["repeated_queries"], whole["refused"]) == (1, 1)
    saved, before = session.save(), session.totals()
    session.step(actions[0])
    session.restore(saved)
    assert session.totals() == before


def test_trl_logs_the_numbers_of_the_step(mini: Path) -> None:
    pool = [environment_factory(mini)() for _ in range(2)]
    logged: dict[str, float] = {}
    for each in pool:
        each.reset(topic_id="sv:1")
        each.search(query="encoders")
    texts = [[{"role": "tool", "content": each._session.last.text}] for each in pool]
    kept_results(texts, pool, log_metric=logged.__setitem__)
    assert {logged[f"arena/{name}"] for name in ("queries", "equal_groups")} == {1}
    assert logged["arena/calls"] == 2  # the search, and the end
    assert [each.get_reward() for each in pool] == [0.0, 0.0]
