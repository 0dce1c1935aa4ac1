"""The checks before every server: who may ask, how much, and how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import pytest
import requests

from arena.cli import main
from arena.serving import http
from arena.serving.retrieve import Searcher, make_app

pytest.importorskip("uvicorn", reason="needs the extra serve")
from serving import serving

ASK = {"query": "retrieval"}


def app(corpus):
    return make_app(Searcher(corpus))


@pytest.fixture(scope="module")
def address(mini):
    with serving(app(mini)) as address:
        yield address
        assert post(address).status_code == 200  # whatever the tests sent


def post(address: str, **options) -> requests.Response:
    return requests.post(f"{address}/retrieve?before=2022", **({"json": ASK} | options), timeout=60)


@pytest.mark.parametrize(
    ("options", "status", "error"),
    [
        ({"headers": {"Host": "evil.example:80"}}, 400, "the host 'evil.example:80' is no name"),
        ({"headers": {"Host": "localhost.evil.example"}}, 400, "--host 0.0.0.0, and with a secret"),
        ({"headers": {"Origin": "https://evil.example"}}, 403, "a page of 'https://evil.example'"),
        ({"headers": {"Origin": "null"}}, 403, "a page of 'null' may not ask"),
        ({"json": None, "data": b" " * (http.LARGEST + 1)}, 413, "more than 4,194,304 bytes"),
        ({"json": None, "data": iter([b" " * (1 << 22)] * 9)}, 413, "more than 4,194,304 bytes"),
        ({"json": None, "data": '{"query": "x"}'}, 415, "send application/json"),
    ],
)
def test_refusals(address, options, status, error):
    got = post(address, **options)
    assert (got.status_code, error in got.text) == (status, True), got.text


def test_a_request_that_never_came_as_a_whole_is_not_carried_out():
    messages = [
        {"type": "http.request", "body": b'{"query": "bees"}', "more_body": True},
        {"type": "http.disconnect"},
    ]

    async def receive():
        return messages.pop(0)

    scope = {"type": "http", "headers": [(b"host", b"localhost")]}
    asyncio.run(http.Guard(None, True, None)(scope, receive, None))
    assert not messages


def test_too_many_connections(mini, monkeypatch):
    monkeypatch.setattr(http, "CLIENTS", 2)
    with serving(app(mini)) as address, requests.Session() as first, requests.Session() as second:
        url = f"{address}/health"
        assert first.get(url).status_code == 200
        assert second.get(url).status_code == 503
        assert first.get(url).status_code == 200


def test_a_token(mini):
    with serving(app(mini), token="secret") as address:
        for wrong in (None, "Bearer", "Bearer secre", "Bearer sécret", "Basic secret", "Basic !"):
            got = post(address, headers={"Authorization": wrong and wrong.encode()})
            assert (got.status_code, got.headers["WWW-Authenticate"]) == (401, "Bearer"), wrong
            assert "secret" not in got.text
        assert requests.get(f"{address}/health", timeout=60).status_code == 401
        assert post(address, headers={"Authorization": "Bearer secret"}).status_code == 200
        assert post(address.replace("//", "//any:secret@")).status_code == 200


def test_other_machines_need_a_token(mini, monkeypatch, capsys):
    monkeypatch.delenv(http.TOKEN, raising=False)
    command = ["serve", "retrieve", "--corpus", str(mini), "--host", "0.0.0.0"]
    assert main(command) == 2
    assert "Set the environment variable ARENA_TOKEN" in capsys.readouterr().err


def test_the_command(mini):
    """It prints its address, refuses a port in use in one line, and ends at Ctrl-C."""
    command = [sys.executable, "-m", "arena", "serve", "retrieve", "--corpus", str(mini)]
    environment = {**os.environ, "ARENA_TOKEN": "secret"}
    with subprocess.Popen(
        [*command, "--before", "2020-03-06", "--port", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    ) as server:  # fmt: skip
        line = server.stdout.readline()
        assert line.endswith(" until Ctrl-C. Papers before 2020-03-06 alone.\n")
        url = line.split()[2]
        got = requests.post(url.replace("//", "//:secret@"), json=ASK, timeout=60)
        assert [hit["id"] for hit in got.json()["result"][0]] == ["p:day"]
        port = url.split(":")[2].split("/")[0]
        second = subprocess.run([*command, "--port", port], capture_output=True, text=True)
        assert second.returncode == 2
        assert second.stderr.count("\n") == 1
        assert f"cannot listen at 127.0.0.1 port {port}: Address already in use" in second.stderr
        server.send_signal(signal.SIGINT)
        assert server.communicate()[1] == ""
        assert server.returncode == 0


def test_fewer_connections_where_files_are_few(monkeypatch, capsys):
    monkeypatch.setattr(http.resource, "setrlimit", lambda *_: None)
    for most, clients in [(10_000, 2_000), (http.resource.RLIM_INFINITY, 2_000)]:
        monkeypatch.setattr(http.resource, "getrlimit", lambda _, most=most: (most, most))
        assert (http.connections(2_000), capsys.readouterr().err) == (clients, "")
    monkeypatch.setattr(http.resource, "getrlimit", lambda _: (1_024, 1_024))
    room = http.connections(2_000)
    assert 1 <= room <= 1_024 - 64 - 3  # less the files of other tests
    expected = f"Only {room} of 2,000 connections have room, since `ulimit -n` is 1,024; "
    assert capsys.readouterr().err.startswith(expected)
