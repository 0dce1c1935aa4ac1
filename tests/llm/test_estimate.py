"""Requests are counted where a command would ask: nothing is asked, kept or written."""

from __future__ import annotations

import pytest
from llm_server import LLMServer

from arena.llm import Client, Failure, ask
from arena.llm.estimate import count_requests

PRICES = {"priced": {"prompt": 2, "completion": 10}}


def messages(text):
    return [{"role": "user", "content": text}]


def client(model, server, tmp_path, **options):
    store = tmp_path / "answers.db"
    return Client(model, base_url=server.url, store=store, prices=PRICES, **options)


def test_new_requests_are_counted_and_none_is_asked(tmp_path):
    with LLMServer(lambda body: "yes") as server:
        priced = client("priced", server, tmp_path, max_tokens=100)
        plain = client("plain", server, tmp_path)
        assert ask(priced, messages("known"), str) == "yes"

        def work():
            assert ask(priced, messages("known"), str) == "yes"  # the store has it
            for text in ("one two", "three", "three"):
                assert not ask(priced, messages(text), str)
            refused = "the server refused the request: it was counted"
            assert ask(plain, messages("four five six"), str) == Failure(refused)

        found = count_requests(work)
        assert len(server.requests) == 1
        # Two distinct requests of 2 and 1 tokens: 3 x 2 / 1e6 dollars, and 2 x 100 x 10 / 1e6.
        assert [[*row.values()] for row in found] == [
            ["priced", 2, 3, 200, pytest.approx(2006e-6)],
            ["plain", 1, 3, None, None],
        ]
        assert ask(priced, messages("three"), str) == "yes"  # nothing was kept
        assert priced.meter.calls == 2


def test_a_count_needs_no_key(tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    options = {"model": "m", "store": str(tmp_path / "s.db")}
    assert count_requests(lambda: Client.from_options(options, "--llm-option")) == []
    assert not (tmp_path / "s.db").exists()
