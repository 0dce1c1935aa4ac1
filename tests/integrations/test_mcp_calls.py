"""The plain calls of MCP that are answered without the SDK: its bytes for every request."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arena
from arena.serving.mcp import DatedLibrary, episode_server, http_app, library_server
from arena.session import Sessions

pytest.importorskip("mcp")
import httpx2
from anyio.from_thread import start_blocking_portal

from arena.serving._mcp_calls import plain_call

NEW = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": NEW,
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
SEARCH = {"name": "search", "arguments": {"query": "nested lattice é 深 \\u2028", "k": 3}}
VERSIONS = [None, "2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", NEW]


class Both:
    """Two servers of the same episodes: `http_app`, and the SDK's application alone."""

    def __init__(self, *servers: Any) -> None:
        plain = servers[1].streamable_http_app(json_response=True, stateless_http=True)
        self._stack, self._apps = contextlib.ExitStack(), (http_app(servers[0]), plain)
        self._portal = self._stack.enter_context(start_blocking_portal())
        for server in servers:
            running = self._portal.wrap_async_context_manager(server.session_manager.run())
            self._stack.enter_context(running)
        self.close = self._stack.close

    def ask(self, url: str, headers: list[tuple[str, str]], body: bytes) -> tuple[Any, Any]:
        """Return status, type and body of both answers."""

        async def post(app: Any) -> Any:
            async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app)) as web:
                got = await web.post(f"http://127.0.0.1:8000{url}", content=body, headers=headers)
                return got.status_code, got.headers.get("content-type"), got.content

        ours, theirs = (self._portal.call(post, app) for app in self._apps)
        return ours, theirs


def request(version: str | None, params: Any, id: Any = 1) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the headers and the body of a call as the SDK's client of a version sends it."""
    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    if version is not None:
        headers["mcp-protocol-version"] = version
    if version == NEW:
        headers |= {"mcp-method": "tools/call", "mcp-name": params["name"]}
        params = params | {"_meta": META}
    return headers, {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}


def is_plain(headers: dict[str, str], body: bytes) -> bool:
    return plain_call([(k.encode(), v.encode()) for k, v in headers.items()], body) is not None


@pytest.fixture(scope="module")
def both(synthetic: Path) -> Iterator[Both]:
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic)
    opened = Both(*(episode_server(Sessions(env)) for _ in range(2)))
    yield opened
    opened.close()


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_the_bytes_are_those_of_the_sdk(both: Both, version: str | None) -> None:
    calls: list[dict[str, Any]] = [
        SEARCH,
        {"name": "search", "arguments": {"query": "x", "k": 10**40}},
        {"name": "serch"},
        {"name": "finish", "arguments": None},
        SEARCH,  # the episode is over
    ]
    for number, call in enumerate(calls):
        headers, body = request(version, call, id=["a", 7, "é"][number % 3])
        data = json.dumps(body).encode()
        assert is_plain(headers, data)
        ours, theirs = both.ask(f"/mcp?episode={version}&seed=1", list(headers.items()), data)
        assert ours == theirs
        assert ours[0] == 200
    for url in ("/mcp", "/mcp?episode=x&seed=-1"):  # no episode
        ours, theirs = both.ask(url, list(headers.items()), data)
        assert ours == theirs
        assert b"error" in ours[2]


def test_a_library(synthetic: Path) -> None:
    library = DatedLibrary(arena.Corpus.open(synthetic).at("2015-01-01"))
    opened = Both(library_server(library), library_server(library))
    for version in VERSIONS:
        headers, body = request(version, SEARCH)
        ours, theirs = opened.ask("/mcp", list(headers.items()), json.dumps(body).encode())
        assert ours == theirs
        assert b"hits" in ours[2]
    opened.close()


ODD = st.sampled_from(
    [None, True, 0, -1, 1.5, 10**30, "", "2.0", "tools/call", "search", [], {}, [1], {"a": None}]
)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_is_unusual_is_answered_by_the_sdk(both: Both, data: Any) -> None:
    """Parts of a plain call dropped, doubled or exchanged, in headers and body."""
    headers, body = request(data.draw(st.sampled_from(VERSIONS)), dict(SEARCH))
    places: list[tuple[Any, str]] = [(body, key) for key in (*body, "result", "error")]
    params = body["params"]
    places += [(params, key) for key in ("name", "arguments", "_meta", "task", "requestState")]
    params["_meta"] = dict(params.get("_meta", {}))
    places += [(params["_meta"], key) for key in (*META, "progressToken")]
    for within, key in data.draw(st.lists(st.sampled_from(places), max_size=2)):
        within.pop(key, None)
        if data.draw(st.booleans()):
            within[key] = data.draw(ODD)
    sent = list(headers.items())
    for name in data.draw(st.lists(st.sampled_from([*headers, "mcp-name"]), max_size=2)):
        kept = [pair for pair in sent if pair[0] != name or data.draw(st.booleans())]
        values = ["", "*/*", "text/html", "application/json; charset=utf-8", "search", "2025-11-25"]
        more = data.draw(st.lists(st.sampled_from([*values, NEW]), max_size=2))
        sent = kept + [(name, value) for value in more]
    text = json.dumps(body).encode()
    text = data.draw(st.sampled_from([text, text, text, text[:-1], b"[" + text + b"]", b"\xff"]))
    ours, theirs = both.ask("/mcp?episode=odd&seed=2", sent, text)
    assert ours == theirs


def test_half_a_letter_is_a_question_mark_of_unicode(both: Both) -> None:
    headers, call = request(None, {"name": "search", "arguments": {"query": "HERE"}})
    texts = [
        json.dumps(call).replace("HERE", query).encode()
        for query in ("nested \\uDE0A lattice", "nested \\ufffd lattice")
    ]
    halved, whole = (both.ask("/mcp?episode=half&seed=2", list(headers.items()), t) for t in texts)
    assert b"hits" in halved[0][2]
    assert halved[1] != whole[1]  # the SDK refuses it
    assert json.loads(halved[0][2])["result"]["isError"] is False
