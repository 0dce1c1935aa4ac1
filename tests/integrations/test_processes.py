"""`--processes`: an episode stays with its process, and is lost with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import requests

from arena.cli import main
from arena.serving.processes import Routes

pytest.importorskip("mcp")


def test_keys_stay_with_their_process_and_are_lost_with_it() -> None:
    routes, keys = Routes(64), [f"rollout-{n}" for n in range(16_384)]
    first = {key: routes.find(key) for key in keys}
    sizes = Counter(number for number, _ in first.values())
    # 256 each in the mean; 16 is the standard deviation of keys that are drawn.
    assert len(sizes) == 64
    assert min(sizes.values()) > 256 - 5 * 16
    assert max(sizes.values()) < 256 + 5 * 16
    assert {key: routes.find(key) for key in reversed(keys)} == first
    for key in keys:
        routes.keep(key)
    assert routes.lose(7) == sizes[7]
    for key in keys:
        number, _ = first[key]
        assert routes.find(key) == (number, number == 7)
    assert routes.lose(7) == 0  # none of them began again
    new = [routes.find(f"new-{n}") for n in range(1_000)]
    assert {number for number, _ in new} == set(range(64))
    assert not any(lost for _, lost in new)


def test_without_a_key_each_process_has_its_turn() -> None:
    routes = Routes(3)
    assert [routes.find(key) for key in (None, "", None, None)] == [
        (0, False), (1, False), (2, False), (0, False)
    ]  # fmt: skip
    assert routes.lose(0) == 0


def test_a_key_whose_episode_was_closed_is_not_lost() -> None:
    routes = Routes(1)
    for key in ("open", "closed"):
        routes.keep(key)
    routes.keep("closed", ended=True)
    assert routes.lose(0) == 1
    assert [routes.find(key) for key in ("open", "closed")] == [(0, True), (0, False)]


def test_one_client_over_stdio_needs_one_process(synthetic: Path, capsys: Any) -> None:
    words = ["serve", "mcp", "--corpus", str(synthetic), "--task", "discovery", "--processes", "2"]
    assert main(words) == 2
    assert "--processes 2 goes with --http" in capsys.readouterr().err


def call(url: str, key: str, **options: Any) -> Any:
    params = {"name": "search", "arguments": {"query": "lattice"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    accept = {"Accept": "application/json, text/event-stream"} | options.pop("headers", {})
    asked = {"episode": key, "seed": 7}
    return requests.post(url, params=asked, json=message, headers=accept, timeout=60, **options)


def steps_left(answer: Any) -> int:
    text = answer.json()["result"]["content"][0]["text"]
    return int(json.loads(text)["budget"]["steps"])


@pytest.mark.slow
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_a_killed_process_loses_its_episodes_alone(synthetic: Path, end: int) -> None:
    command = [sys.executable, "-m", "arena", "serve", "mcp", "--corpus", str(synthetic)]
    command += ["--task", "discovery", "--http", "--port", "0", "--processes", "2"]
    routes, keys = Routes(2), [f"rollout-{n}" for n in range(8)]
    numbers = [routes.find(key)[0] for key in keys]
    assert {*numbers} == {0, 1}
    server = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "ARENA_TOKEN": "secret"},
    )  # fmt: skip
    with server, requests.Session() as client:
        try:
            url = server.stdout.readline().split()[2]
            client.auth = ("any", "secret")
            left = [steps_left(call(url, key, auth=client.auth)) for key in keys]
            assert [steps_left(call(url, key, auth=client.auth)) for key in keys] == [
                steps - 1 for steps in left
            ]
            health = url.replace("/mcp", "/health")
            opened = [client.get(health, timeout=60).json()["open"] for _ in range(2)]
            assert sum(opened) == len(keys)
            assert call(url, "new").status_code == 401
            assert call(url, "new", headers={"Host": "evil.example"}).status_code == 400
            headers = {"Origin": "https://evil.example"}
            assert call(url, "new", auth=client.auth, headers=headers).status_code == 403
            children = Path(f"/proc/{server.pid}/task/{server.pid}/children").read_text()
            workers = [*map(int, children.split())]
            os.kill(workers[1], signal.SIGKILL)
            assert server.stderr.readline() == (
                f"Server process 1 was killed by signal 9, and with it {numbers.count(1)} "
                "episodes. It starts again.\n"
            )
            for key, number, before in zip(keys, numbers, left, strict=True):
                got = call(url, key, auth=client.auth)
                if number == 0:
                    assert steps_left(got) == before - 2
                else:
                    assert "the process that had it has ended" in got.json()["error"]["message"]
                    ended = client.delete(url, params={"episode": key}, timeout=60)
                    assert ended.status_code == 404
                    assert "has ended" in ended.json()["error"]
            fresh = next(f"new-{n}" for n in range(99) if routes.find(f"new-{n}")[0] == 1)
            assert steps_left(call(url, fresh, auth=client.auth)) == left[0]
            opened = [client.get(health, timeout=60).json()["open"] for _ in range(2)]
            assert sum(opened) == numbers.count(0) + 1
        finally:
            server.send_signal(end)
        out, err = server.communicate(timeout=60)
        assert (out, err, server.returncode) == ("", "", 0)
    for each in workers:
        assert not Path(f"/proc/{each}").exists()


@pytest.mark.slow
def test_a_process_that_fails_ends_all_in_one_line(synthetic: Path) -> None:
    command = [sys.executable, "-m", "arena", "serve", "retrieve", "--corpus", str(synthetic)]
    command += ["--retriever", "bm52", "--port", "0", "--processes", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "Did you mean 'bm25'" in done.stderr


@pytest.mark.slow
def test_searches_of_one_connection_go_to_each_process_in_turn(synthetic: Path) -> None:
    command = [sys.executable, "-m", "arena", "serve", "retrieve", "--corpus", str(synthetic)]
    command += ["--before", "9999", "--port", "0", "--processes", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = server.stdout.readline().split()[2]
            with requests.Session() as client:
                ask = {"query": "lattice", "topk": 3}
                found = [client.post(url, json=ask, timeout=60).content for _ in range(4)]
                assert len(json.loads(found[0])["result"][0]) == 3
                assert len({*found}) == 1
                big = b" " * ((4 << 20) + 1)
                assert client.post(url, data=big, timeout=60).status_code == 413
        finally:
            server.kill()
    with pytest.raises(requests.ConnectionError):
        requests.get(url, timeout=60)
