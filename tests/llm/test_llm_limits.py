"""Counting tokens, dollars and seconds, and stopping at limits."""

from __future__ import annotations

import json

import pytest
from llm_server import HELLO, LLMServer, Trouble, echo, says

from arena.errors import DataError
from arena.llm import LimitReachedError, ModelSession, SpendingLimitError


def test_counting_by_hand(make_client):
    """10 prompt tokens of which 4 cached, 5 completion tokens; then an answer without a count."""
    usage = {
        "prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4},
    }  # fmt: skip
    choices = [{"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}]
    bodies = [{"choices": choices, "usage": usage}, {"choices": choices}]
    prices = {"scripted": {"prompt": 3, "completion": 7, "cached": 1}}
    with LLMServer([Trouble(body=json.dumps(body).encode()) for body in bodies]) as server:
        session = ModelSession(make_client(server, prices=prices))
        assert session.complete(HELLO).cost == pytest.approx((6 * 3 + 4 * 1 + 5 * 7) / 1e6, 1e-12)
        totals = session.meter.totals()
        assert {key: totals[key] for key in totals if key != "dollars"} == {
            "calls": 1, "prompt_tokens": 10, "completion_tokens": 5, "cached_tokens": 4,
        }  # fmt: skip
        assert session.complete(says("more")).cost is None
    assert session.meter.totals() == {
        "calls": 2, "prompt_tokens": None, "completion_tokens": None, "cached_tokens": 4,
        "dollars": None,
    }  # fmt: skip


def test_prices(make_client, tmp_path):
    path = tmp_path / "prices.yaml"
    path.write_text("scripted: {prompt: 1, completion: 1}\n")
    with LLMServer(echo) as server:
        assert make_client(server, prices=path).complete(HELLO).cost == pytest.approx(8e-6)
        for entry in ({"prompt": 1}, {"prompt": -1, "completion": 1}, 5, {"promt": 1},
                      {"prompt": True, "completion": 1}):  # fmt: skip
            with pytest.raises(DataError, match="price of 'scripted'"):
                make_client(server, prices={"scripted": entry})
        with pytest.raises(DataError, match="no price of 'scripted'"):
            make_client(server, limits={"max_dollars": 1})
        with pytest.raises(DataError, match=r"none\.yaml' cannot be read: No such file"):
            make_client(server, prices=tmp_path / "none.yaml")
        with pytest.raises(DataError, match="no price of 'scripted'"):
            ModelSession(make_client(server), {"max_dollars": 1})
    # 1000 tokens each: 2.50 and 10 dollars for a million.
    from arena.llm.answers import Usage, price_of

    assert price_of("gpt-4o", None).cost(Usage(1000, 1000, 0)) == pytest.approx(0.0125)
    assert price_of("gpt-4o-2024-05-13", None) is None  # another price than gpt-4o
    assert price_of("gpt-4o", {"gpt-4o": {"prompt": 0, "completion": 0}}).cost(Usage(9, 9)) == 0


def test_prices_given_later_count_for_answers_that_are_kept(make_client):
    """5 tokens of prompt and 3 of the answer at 2 and 10 dollars a million; a known cost stays."""
    with LLMServer(lambda body: "one two three") as server:
        question = says("one two three four five")
        assert make_client(server).complete(question).cost is None
        for mode in ("record", "replay"):
            client = make_client(
                server, mode=mode, prices={"scripted": {"prompt": 2, "completion": 10}}
            )
            assert client.complete(question).cost == pytest.approx(40e-6)
        client = make_client(server, prices={"scripted": {"prompt": 1, "completion": 1}})
        assert client.complete(HELLO).cost == pytest.approx(6e-6)
        client = make_client(server, prices={"scripted": {"prompt": 9, "completion": 9}})
        assert client.complete(HELLO).cost == pytest.approx(6e-6)


@pytest.mark.parametrize(
    ("limits", "answered"),
    [
        ({"max_calls": 3}, 3),
        ({"max_calls": 0}, 0),
        ({"max_tokens": 21}, 3),  # 8 tokens each: the one that crosses is still answered
        ({"max_dollars": 16e-6}, 2),
        ({}, 5),
    ],
)
def test_limits_of_an_episode(limits, answered, make_client):
    """The same when replayed: the counts are those of the recording."""
    prices = {"scripted": {"prompt": 1, "completion": 1}}
    with LLMServer(lambda body: "five words and no more") as server:  # and three asked
        for mode in ("record", "record", "replay") if answered else ("record",):
            client = make_client(server, mode=mode, prices=prices)
            session = ModelSession(client, limits)
            count = 0
            try:
                for n in range(5):
                    session.complete(says(f"hello you {n}"))
                    count += 1
            except LimitReachedError as reached:
                assert {reached.limit} == set(limits)
            assert count == answered
        assert len(server.requests) == answered


def test_limits_of_the_client_count_what_is_really_asked(make_client):
    with LLMServer(echo) as server:
        for start in (0, 2, 4):  # a process that begins again may ask as much again
            client = make_client(server, limits={"max_calls": 2})
            with pytest.raises(SpendingLimitError, match="max_calls=2"):
                for n in range(9):
                    client.complete(says(str(n)))
            assert client.meter.calls == 2
            assert len(server.requests) == start + 2


def test_a_limit_on_what_is_not_counted_is_an_error(make_client):
    choices = [{"message": {"role": "assistant", "content": "x"}}]
    with LLMServer([Trouble(body=json.dumps({"choices": choices}).encode())]) as server:
        session = ModelSession(make_client(server), {"max_tokens": 100})
        with pytest.raises(DataError, match="does not count tokens"):
            session.complete(HELLO)
