"""Time many episodes at once: in this process, and through the doors over HTTP."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import requests

import arena
from arena.corpus.store import CorpusStore
from arena.doors import Door, find_door
from arena.errors import DataError
from arena.session import Sessions
from benchmarks.environments import queries_of
from benchmarks.report import check_range, machine, table


class ManySettings(NamedTuple):
    """What is measured.

    Attributes:
        retriever: An engine of the corpus.
        sessions: Numbers of episodes at once, with commas.
        searches: Searches of an episode.
        episodes: Episodes of each measurement, at least as many as are played at once.
        k: Hits of a search.
        doors: Doors to play through with their framework's own client in place of the servers,
            with commas; each client has a thread of this process.
        idle: Seconds after which an episode that nobody plays is closed; longer than a client waits
            between two of its calls.
        seed: Of queries and surveys.
    """

    retriever: str = "bm25"
    sessions: str = "1,16,128,512"
    searches: int = 8
    episodes: int = 512
    k: int = 10
    doors: str = ""
    idle: float = 10.0
    seed: int = 0


class Played(NamedTuple):
    """One measurement.

    Attributes:
        seconds: From the first call to the last answer.
        calls: Seconds of each call.
        lost: Calls without the right kind of answer.
        left: Episodes that are still open after their idle time-out; None for a door without any.
        megabytes: Most memory of the process that holds the episodes.
    """

    seconds: float
    calls: list[float]
    lost: int
    left: int | None = None
    megabytes: float | None = None


def measure(directory: Path | str, settings: ManySettings) -> dict[str, Any]:
    """Play episodes of searches: the plain environment, sessions in threads, MCP, ``/retrieve``.

    The servers run in processes of their own; their client writes HTTP with little more than
    sockets, so that the server is measured and not the client.

    Args:
        directory: Directory of a built corpus with a survey that can be scored.
        settings: What is measured.

    Returns:
        ``settings``, ``machine``, ``corpus`` (its hash) and ``rows``: of each door and number of
        episodes at once, what `Played` holds.

    Raises:
        DataError: If a setting is out of its range, or a server does not start.
        CorpusError, UnknownNameError: If the corpus or the engine cannot be used.
    """
    try:
        numbers = [int(part) for part in settings.sessions.split(",")]
    except ValueError:
        raise DataError(f"--sessions {settings.sessions!r}: give numbers with commas.") from None
    check_range(1, 4096, **{f"sessions {n}": n for n in numbers})
    check_range(1, 50, searches=settings.searches)
    check_range(1, 10**6, episodes=settings.episodes)
    corpus = arena.Corpus.open(directory)
    store = CorpusStore(corpus.directory)
    queries = queries_of(store, settings.seed)
    corpus.at("9999", retriever=settings.retriever).search("compiles what is compiled late")
    asked = [name.strip() for name in settings.doors.split(",") if name.strip()]
    ways = {f"{name}, its own client": _with_client(find_door(name)) for name in asked} or _WAYS
    rows = []
    for number in numbers:
        count = max(settings.episodes, number)
        for name, play in ways.items():
            plan = [list(islice(queries, settings.searches)) for _ in range(count)]
            played = play(corpus, settings, number, plan)
            rows.append({"door": name, "sessions": number, "episodes": count, **played._asdict()})
    return {"settings": settings._asdict(), "machine": machine(), "corpus": corpus.sha256,
            "rows": rows}  # fmt: skip


def _in_process(corpus: Any, settings: ManySettings, number: int, plan: list[list[str]]) -> Played:
    """Play the plain environment, one episode after the other."""
    env = Sessions.make(corpus, retriever=settings.retriever).env
    calls, lost, begun = list[float](), 0, time.perf_counter()
    for place, queries in enumerate(plan):
        env.reset(seed=settings.seed + place)
        for query in queries:
            started = time.perf_counter()
            observation, *_ = env.step(_search(query, settings.k))
            calls.append(time.perf_counter() - started)
            lost += '"hits"' not in observation["result"]
    return Played(time.perf_counter() - begun, calls, lost)


def _in_threads(corpus: Any, settings: ManySettings, number: int, plan: list[list[str]]) -> Played:
    """Play sessions, each in a thread."""
    sessions = Sessions.make(corpus, retriever=settings.retriever)

    def play(place: int) -> tuple[list[float], int]:
        session = sessions.open(f"{place}", seed=settings.seed + place)
        calls, lost = [], 0
        for query in plan[place]:
            started = time.perf_counter()
            step = session.step(_search(query, settings.k))
            calls.append(time.perf_counter() - started)
            lost += '"hits"' not in step.observation["result"]
        sessions.close(session.key)
        return calls, lost

    begun = time.perf_counter()
    with ThreadPoolExecutor(number) as pool:
        played = list(pool.map(play, range(len(plan))))
    seconds = time.perf_counter() - begun
    calls = [took for some, _ in played for took in some]
    return Played(seconds, calls, sum(lost for _, lost in played), len(sessions))


def _mcp(corpus: Any, settings: ManySettings, number: int, plan: list[list[str]]) -> Played:
    words = ["mcp", "--http", "--task", "discovery", "--idle", str(settings.idle)]

    def request(place: int, query: str) -> tuple[str, dict[str, Any]]:
        call = {"name": "search", "arguments": {"query": query, "k": settings.k}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        return f"?episode={place}&seed={settings.seed + place}", message

    with _serving(corpus, settings, words) as (url, process):
        played = asyncio.run(_play_http(url, number, plan, request, b'"hits'))
        end, health = time.monotonic() + 4 * settings.idle, url.replace("/mcp", "/health")
        while (left := requests.get(health, timeout=60).json()["open"]) and time.monotonic() < end:
            time.sleep(0.2)
        return played._replace(left=left, megabytes=_megabytes(process))


def _retrieve(corpus: Any, settings: ManySettings, number: int, plan: list[list[str]]) -> Played:
    def request(place: int, query: str) -> tuple[str, dict[str, Any]]:
        return "", {"queries": [query], "topk": settings.k, "return_scores": True}

    with _serving(corpus, settings, ["retrieve", "--before", "9999"]) as (url, process):
        played = asyncio.run(_play_http(url, number, plan, request, b'{"result":[['))
        return played._replace(megabytes=_megabytes(process))


def _with_client(door: type[Door]) -> Way:
    """Return what plays through a door as the framework does, in threads."""

    def play(corpus: Any, settings: ManySettings, number: int, plan: list[list[str]]) -> Played:
        sessions = Sessions.make(corpus, retriever=settings.retriever, idle=settings.idle)
        places, calls, lost = iter(range(len(plan))), list[float](), list[bool]()

        def play_some(client: Door) -> None:
            for place in places:
                client.open(settings.seed + place, None)
                for query in plan[place]:
                    started = time.perf_counter()
                    reply = client.call("search", {"query": query, "k": settings.k})
                    calls.append(time.perf_counter() - started)
                    lost.append('"hits"' not in reply.text)

        with ExitStack() as stack:
            clients = [door(sessions) for _ in range(number)]
            for client in clients:
                stack.callback(client.close)
            begun = time.perf_counter()
            with ThreadPoolExecutor(number) as pool:
                list(pool.map(play_some, clients))
            seconds = time.perf_counter() - begun
        end = time.monotonic() + 4 * settings.idle
        while len(sessions) and time.monotonic() < end:
            time.sleep(0.2)
        return Played(seconds, calls, sum(lost), len(sessions), _megabytes(os.getpid()))

    return play


Way = Callable[[Any, ManySettings, int, list[list[str]]], Played]
"""Plays the episodes of a plan, a number of them at a time."""

_WAYS: dict[str, Way] = {
    "plain environment": _in_process,
    "sessions in threads": _in_threads,
    "mcp over HTTP": _mcp,
    "/retrieve": _retrieve,
}


def _search(query: str, k: int) -> dict[str, Any]:
    return {"tool": "search", "arguments": {"query": query, "k": k}}


@contextmanager
def _serving(corpus: Any, settings: ManySettings, words: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the URL of a server in a process of its own, and the number of that process."""
    command = [sys.executable, "-m", "arena.cli", "serve", *words, "--port", "0"]
    command += ["--corpus", str(corpus.directory), "--retriever", settings.retriever]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline().split()
            if not line:
                raise DataError("the server did not start; its message stands above.")
            yield line[2], server.pid
        finally:
            server.terminate()


async def _play_http(
    url: str,
    number: int,
    plan: list[list[str]],
    request: Callable[[int, str], tuple[str, dict[str, Any]]],
    right: bytes,
) -> Played:
    """Play all episodes of a plan, `number` at a time, each with a connection of its own."""
    host, _, path = url.removeprefix("http://").partition("/")
    address, port = host.split(":")
    places, calls, lost = iter(range(len(plan))), list[float](), 0

    async def play_some(some: Iterable[int]) -> None:
        nonlocal lost
        for place in some:
            reader, writer = await asyncio.open_connection(address, int(port))
            for query in plan[place % len(plan)]:
                parameters, message = request(place, query)
                body = json.dumps(message).encode()
                head = (
                    f"POST /{path}{parameters} HTTP/1.1\r\nHost: {host}\r\n"
                    "Content-Type: application/json\r\n"
                    "Accept: application/json, text/event-stream\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n"
                )
                started = time.perf_counter()
                writer.write(head.encode() + body)
                answer = await reader.readuntil(b"\r\n\r\n")
                length = int(answer.lower().partition(b"content-length:")[2].split()[0])
                content = await reader.readexactly(length)
                calls.append(time.perf_counter() - started)
                lost += right not in content
            writer.close()

    await play_some([len(plan)])  # compiles what is compiled late
    calls.clear()
    begun = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(number):
            group.create_task(play_some(places))
    return Played(time.perf_counter() - begun, calls, lost)


def _megabytes(process: int) -> float:
    """Return the most memory that a process has had."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM"))


def show(results: dict[str, Any]) -> str:
    """Return a table of what `measure` returned."""
    settings, rows = results["settings"], []
    for row in results["rows"]:
        half, most = np.percentile(row["calls"], [50, 99])
        rows.append([
            row["door"], row["sessions"], row["episodes"] / row["seconds"],
            len(row["calls"]) / row["seconds"], 1e3 * half, 1e3 * most, row["lost"], row["left"],
            row["megabytes"],
        ])  # fmt: skip
    title = (
        f"episodes of {settings['searches']} searches, {settings['retriever']}, k={settings['k']}"
    )
    headers = ("door", "at once", "episodes/s", "searches/s", "p50 ms", "p99 ms", "lost",
               "left open", "MB")  # fmt: skip
    head = f"{results['machine']}; corpus {results['corpus'][:12]}"
    return "\n\n".join([head, table(title, headers, rows)])
