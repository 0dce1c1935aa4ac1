"""Requests and answers behind gateways, filters, thinking models and proxies."""

from __future__ import annotations

import json
import socket

import pytest
from llm_server import HELLO, LLMServer, Trouble, tool_call

import arena
from arena.errors import ArenaError
from arena.llm import LLMError, RequestRefusedError
from arena.llm.store import Store

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


def body(**fields) -> Trouble:
    return Trouble(200, json.dumps(fields).encode())


FILTERED = {
    "no choice, a filter": body(choices=[], prompt_feedback={"block_reason": "SAFETY"}),
    "a choice without a message": body(choices=[{"finish_reason": "content_filter"}]),
    "null": body(choices=[{"message": None, "finish_reason": "PROHIBITED_CONTENT"}]),
}


@pytest.mark.parametrize("answer", FILTERED.values(), ids=FILTERED)
def test_a_filtered_answer_without_a_message_is_a_refusal_that_is_kept(answer, make_client):
    with LLMServer([answer]) as server:
        for mode in ("record", "record", "replay"):
            with pytest.raises(RequestRefusedError, match="200: the answer has no message"):
                make_client(server, mode=mode).complete(HELLO)
        assert len(server.requests) == 1


@pytest.mark.parametrize("answer", [body(choices=[]), body(object="chat.completion", usage=None)])
def test_an_answer_that_stays_empty_is_a_refusal(answer, make_client):
    with LLMServer([answer, answer]) as server:
        client = make_client(server, max_retries=1)
        with pytest.raises(RequestRefusedError, match="the answer has no message"):
            client.complete(HELLO)
        assert len(server.requests) == 2
        assert client.answers([HELLO])[0].cached


def test_an_error_in_a_body_of_status_200_is_that_error(make_client):
    busy = body(error={"code": 503, "message": "no provider"})
    with LLMServer([busy, "fine"]) as server:
        assert make_client(server, mode="live").complete(HELLO).text == "fine"
    unknown = body(error="nobody knows", choices=[])
    with LLMServer([unknown]) as server, pytest.raises(LLMError, match=r"502: .* fails"):
        make_client(server, mode="live", max_retries=0).complete(HELLO)
    long = body(error={"code": 400, "message": "maximum context length is 9 tokens"})
    with LLMServer([long]) as server, pytest.raises(RequestRefusedError, match="context"):
        make_client(server, mode="live").complete(HELLO)


SENT_BACK = {
    "reasoning_content": "First I look.",
    "reasoning_details": [{"type": "reasoning.encrypted", "data": "x", "index": 0}],
    "thinking_blocks": [{"thinking": "hm", "signature": "s"}],
}
OF_CALL = {"extra_content": {"google": {"thought_signature": "c2ln"}}, "thought_signature": "t"}
LEFT_OUT = {"refusal": None, "annotations": [], "reasoning": None, "audio": {"id": "a"}}


def thinking(server_body):
    """Search, then submit; every field that was sent must have come back."""
    message = tool_call("search", {"query": "membrane"})
    for said in server_body["messages"]:
        if said["role"] == "assistant":
            assert {n: said[n] for n in SENT_BACK} == SENT_BACK and not said.keys() & {*LEFT_OUT}
            (call,) = said["tool_calls"]
            assert {n: call[n] for n in OF_CALL} == OF_CALL
            assert call["function"]["thought_signature"] == "f" and call["id"] != "call_1"
            message = tool_call("submit", {"paper_ids": []})
    message["tool_calls"][0] |= OF_CALL
    message["tool_calls"][0]["function"]["thought_signature"] = "f"
    return message | SENT_BACK | LEFT_OUT


@pytest.mark.usefixtures("alone")
def test_thoughts_and_signatures_go_back_and_into_the_store(synthetic, tmp_path):
    store = tmp_path / "answers.db"
    with LLMServer(thinking) as server:
        for name in ("live", "again"):
            given = {"model": "scripted", "base_url": server.url, "store": str(store)}
            arena.run(
                synthetic, "discovery", "react", tmp_path / name, agent_options=given, topics=1
            )
        assert len(server.requests) == 2  # the second run took both answers from the store
    run = json.loads((tmp_path / "again" / "trajectories.jsonl").read_text())
    assert [step["action"]["tool"] for step in run["steps"]] == ["search", "submit"]
    record = Store(store).get(run["notes"]["llm"]["calls"][0]["request"])
    assert record["extra"] == SENT_BACK
    assert record["tool_calls"][0]["extra_content"] == OF_CALL["extra_content"]


@pytest.fixture
def proxies(monkeypatch):
    for name in (*PROXIES, *map(str.upper, PROXIES), "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch.setenv


def test_a_proxy_that_fails_is_named(proxies, make_client):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    proxies("HTTP_PROXY", f"http://127.0.0.1:{port}")
    with LLMServer(["fine", "fine"]) as server:
        with pytest.raises(LLMError, match=r"proxy in \$HTTP_PROXY: .*NO_PROXY=127.0.0.1"):
            make_client(server, max_retries=0).complete(HELLO)
        proxies("NO_PROXY", "127.0.0.1")
        assert make_client(server, mode="live").complete(HELLO).text == "fine"


def test_a_proxy_that_refuses_is_named_and_no_key(proxies, make_client):
    denied = Trouble(403, b"<html>denied by policy</html>", {"Content-Type": "text/html"})
    with LLMServer([denied]) as proxy:
        proxies("all_proxy", proxy.url.removesuffix("/v1"))
        with pytest.raises(LLMError, match=r"403: .*denied.*proxy in \$all_proxy") as failure:
            make_client("http://model.test/v1", max_retries=0).complete(HELLO)
    assert "key in" not in str(failure.value)


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("ALL_PROXY", "socks5h://127.0.0.1:9", r"^\$ALL_PROXY .*httpx2.*pip install socksio"),
        ("https_proxy", "ftp://127.0.0.1:9", r"^\$https_proxy is no address of a proxy"),
        ("SSL_CERT_FILE", "/no/such.pem", r"^\$SSL_CERT_FILE='/no/such.pem' cannot be read"),
    ],
)
def test_what_is_wrong_with_the_environment_is_named(
    proxies, make_client, variable, value, message
):
    proxies(variable, value)
    with pytest.raises(ArenaError, match=message):
        make_client("http://127.0.0.1:9/v1").check()
