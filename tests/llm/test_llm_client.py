"""The client against a real server: requests, modes, keys of answers, options."""

from __future__ import annotations

import hashlib
import json

import pytest
from llm_server import HELLO, KEY, LLMServer, Trouble, echo, says, tool_call

from arena.errors import DataError
from arena.llm import Client, LLMError, ReplayMissError
from arena.llm.store import Store


def test_a_request_and_its_answer(make_client):
    with LLMServer(["Hello to you."]) as server:
        answer = make_client(server).complete(HELLO, max_tokens=7, stop=["###"])
        assert server.requests == [
            {
                "model": "scripted", "messages": HELLO, "temperature": 0, "seed": 42,
                "max_tokens": 7, "stop": ["###"],
            }
        ]  # fmt: skip
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert (answer.text, answer.finish_reason, answer.tool_calls) == ("Hello to you.", "stop", ())
    assert answer.usage == (3, 3, None)
    assert (answer.cached, answer.cost) == (False, None)  # no price is no price of 0
    assert answer.seconds > 0


def test_the_key_is_the_hash_of_the_body_alone(make_client):
    """Worked out here from the documented form, which stores depend on."""
    body = {"model": "scripted", "messages": HELLO, "temperature": 0, "seed": 42}
    text = json.dumps({"body": body, "version": 1}, sort_keys=True, separators=(",", ":"))
    with LLMServer(echo) as server:
        client = make_client(server)
        first = client.complete(HELLO)
        assert first.key == hashlib.sha256(text.encode()).hexdigest()
        assert make_client("http://127.0.0.1:9/v1", temperature=0.0).complete(HELLO).cached
        different = [
            {"temperature": 0.5}, {"temperature": None}, {"seed": 1}, {"seed": None},
            {"max_tokens": 9}, {"stop": "."}, {"tools": [{"type": "function"}]},
            {"response_format": {"type": "json_object"}}, {"top_p": 0.5}, {"user": "me"},
        ]  # fmt: skip
        keys = {client.complete(HELLO, **options).key for options in different}
        assert len(keys | {first.key}) == len(server.requests) == 1 + len(different)
        assert "temperature" not in server.requests[2]
        for options in ({"stream": True}, {"n": 2}, {"model": "other"}):
            with pytest.raises(DataError):
                client.complete(HELLO, **options)
        for messages in ([], "hello", [{"content": "x"}], [{"role": "user", "content": {1}}]):
            with pytest.raises(DataError):
                client.complete(messages)


def test_recorded_answers_are_replayed_without_a_server(make_client):
    call = tool_call("search", {"query": "caf\u00e9"})
    prices = {"scripted": {"prompt": 1.0, "completion": 2.0}}
    with LLMServer(["text", call]) as server:
        client = make_client(server, prices=prices)
        answers = [client.complete(HELLO), client.complete(says("and now?"))]
        again = [client.complete(HELLO), client.complete(says("and now?"))]
        assert len(server.requests) == 2
    assert answers[1].tool_calls[0]["function"] == {
        "name": "search", "arguments": '{"query": "caf\\u00e9"}',
    }  # fmt: skip
    assert answers[1].message == {
        "role": "assistant", "content": "", "tool_calls": list(answers[1].tool_calls),
    }  # fmt: skip
    assert answers[0].cost == pytest.approx((3 * 1.0 + 1 * 2.0) / 1e6, rel=1e-12)
    assert client.meter.calls == 2  # what was really asked for
    replay = make_client("http://127.0.0.1:9/v1", mode="replay")
    replayed = [replay.complete(HELLO), replay.complete(says("and now?"))]
    assert again == replayed == [answer._replace(cached=True) for answer in answers]
    with pytest.raises(ReplayMissError) as miss:
        replay.complete(says("Tell me   something else about it please"))
    for part in ("'scripted'", "1 message", "Tell me something else", "answers.db", "2 answers"):
        assert part in str(miss.value)
    with pytest.raises(ReplayMissError, match="all of other models: \\['scripted'\\]"):
        Client("another", mode="replay", store=replay.store.path).complete(HELLO)


def test_live_keeps_nothing(make_client, tmp_path):
    with LLMServer(["one", "two"]) as server:
        client = make_client(server, mode="live")
        assert [client.complete(HELLO).text for _ in range(2)] == ["one", "two"]
    assert not (tmp_path / "answers.db").exists()


def test_mode_and_store_come_from_the_environment(make_client, tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_LLM_STORE", str(tmp_path / "elsewhere.db"))
    with LLMServer(["one"]) as server:
        Client("scripted", base_url=server.url).complete(HELLO)
    monkeypatch.setenv("ARENA_LLM_MODE", "replay")
    assert Client("scripted").complete(HELLO).text == "one"
    monkeypatch.setenv("ARENA_LLM_MODE", "reply")
    with pytest.raises(DataError, match="Did you mean 'replay'"):
        Client("scripted")


def test_replay_needs_no_key(make_client, monkeypatch):
    with LLMServer(["one"]) as server:
        make_client(server).complete(HELLO)
    monkeypatch.delenv("OPENAI_API_KEY")
    assert make_client(None, mode="replay").complete(HELLO).text == "one"
    with pytest.raises(LLMError, match=r"\$OPENAI_API_KEY is not set"):
        make_client(None).complete(says("another"))


def test_halves_of_characters_are_sent_and_kept_as_something_readable(make_client):
    with LLMServer(
        [Trouble(body=b'{"choices": [{"message": {"content": "a\\ud83d b"}}]}')]
    ) as server:
        client = make_client(server)
        assert client.complete(says("half \ud83d and \ud83d\ude00")).text == "a\ufffd b"
        assert server.requests[0]["messages"][0]["content"] == "half \ufffd and \U0001f600"


def test_no_further_answer_is_paid_while_one_cannot_be_kept(tmp_path, monkeypatch):
    """As on a disk that fills up; the answer that was paid is kept once there is room."""

    def full(store, record, messages):
        raise LLMError("the disk is full")

    with LLMServer(["one", "two", "three"]) as server:
        client = Client("m", base_url=server.url, store=tmp_path / "answers.db")
        with monkeypatch.context() as patched:
            patched.setattr(Store, "put", full)
            for _ in range(3):
                with pytest.raises(LLMError, match="the disk is full"):
                    client.complete(HELLO)
            assert len(server.requests) == 1
        assert client.complete(says("Another.")).text == "two"
        assert client.complete(HELLO).text == "one"
        assert len(server.requests) == 2
