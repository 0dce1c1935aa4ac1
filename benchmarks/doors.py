"""Time many episodes at once: in this process, and through the doors over HTTP."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    asynccontextmanager,
    contextmanager,
)
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import requests

import arena
from arena.session import Sessions
from benchmarks.report import Results, check_range, head, numbers, queries_of, serving, table

Plan = list[list[str]]
"""The queries of each episode."""

Player = Callable[[int], AbstractContextManager[Callable[[str], str]]]
"""Starts the episode of a number; lends a function that searches and returns the result as text."""


class Played(NamedTuple):
    """One measurement."""

    seconds: float  # from the first call to the last answer
    calls: list[float]  # seconds of each
    lost: int  # calls without the right kind of answer
    left: int | None = None  # episodes that are open after their idle time-out, if there are any
    megabytes: float | None = None  # most memory of the process with the episodes


def measure(
    *,
    corpus: str,
    retriever: str = "bm25",
    sessions: tuple[str, ...] = ("1", "16", "128", "512"),
    searches: int = 8,
    episodes: int = 512,
    k: int = 10,
    idle: float = 10.0,
    openenv: bool = False,
) -> Results:
    """Time many episodes at once, also through doors.

    The servers run in processes of their own; their client writes HTTP with little more than
    sockets, so that the server is measured and not the client.

    Args:
        corpus (DIR): A built corpus with a survey that can be scored.
        retriever (NAME): An engine of the corpus.
        sessions (NUMBERS): Episodes at once.
        searches: Searches of an episode.
        episodes: Episodes of each measurement, at least as many as are played at once.
        k: Hits of a search.
        idle: Seconds after which an episode that nobody plays is closed; longer than a client
            waits between two of its calls.
        openenv: Play on a server of OpenEnv with its own client, and nothing else.

    Returns:
        ``corpus`` (its hash) and ``rows``: a `Played` for each door and number of episodes at once.
    """
    counts = numbers("sessions", sessions, int)
    check_range(1, 4096, **{f"sessions {n}": n for n in counts})
    check_range(1, 50, searches=searches)
    check_range(1, 10**6, episodes=episodes)
    opened = arena.Corpus.open(corpus)
    queries = queries_of(opened)
    opened.at("9999", retriever=retriever).search("compiles what is compiled late")
    setup = _Setup(opened, retriever, k, idle)
    ways = {"openenv": _openenv} if openenv else _WAYS
    rows = []
    for number in counts:
        count = max(episodes, number)
        for name, play in ways.items():
            plan = [list(islice(queries, searches)) for _ in range(count)]
            played = play(setup, number, plan)
            rows.append({"door": name, "sessions": number, "episodes": count, **played._asdict()})
    return {"corpus": opened.sha256, "rows": rows}


class _Setup(NamedTuple):
    corpus: arena.Corpus
    retriever: str
    k: int
    idle: float

    def search(self, query: str) -> dict[str, Any]:
        """Return the action of a search."""
        return {"tool": "search", "arguments": {"query": query, "k": self.k}}


def _play(players: Sequence[Player], plan: Plan) -> Played:
    """Play all episodes of a plan; each player has a thread and plays one after the other."""
    places, calls, lost = iter(range(len(plan))), list[float](), list[bool]()

    def play_some(player: Player) -> None:
        for place in places:
            with player(place) as search:
                for query in plan[place]:
                    started = time.perf_counter()
                    text = search(query)
                    calls.append(time.perf_counter() - started)
                    lost.append('"hits"' not in text)

    begun = time.perf_counter()
    with ThreadPoolExecutor(len(players)) as pool:
        list(pool.map(play_some, players))
    return Played(time.perf_counter() - begun, calls, sum(lost))


def _in_process(setup: _Setup, number: int, plan: Plan) -> Played:
    """Play the plain environment, one episode after the other."""
    env = Sessions.make(setup.corpus, retriever=setup.retriever).env

    @contextmanager
    def player(place: int) -> Iterator[Callable[[str], str]]:
        env.reset(seed=place)
        yield lambda query: str(env.step(setup.search(query))[0]["result"])

    return _play([player], plan)


def _in_threads(setup: _Setup, number: int, plan: Plan) -> Played:
    """Play sessions, each in a thread."""
    sessions = Sessions.make(setup.corpus, retriever=setup.retriever)

    @contextmanager
    def player(place: int) -> Iterator[Callable[[str], str]]:
        session = sessions.open(f"{place}", seed=place)
        yield lambda query: str(session.step(setup.search(query)).observation["result"])
        sessions.close(session.key)

    return _play([player] * number, plan)._replace(left=len(sessions))


def megabytes_of(process: int) -> float:
    """Return the most memory that a process has had, in MB; on Linux."""
    lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM"))


def _mcp(setup: _Setup, number: int, plan: Plan) -> Played:
    """Play on a server of MCP."""

    def message(query: str) -> dict[str, Any]:
        call = {"name": "search", "arguments": {"query": query, "k": setup.k}}
        return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}

    words = ["mcp", "--http", "--task", "discovery", "--idle", str(setup.idle)]
    with serving(setup.corpus, setup.retriever, words) as (url, process):
        episode = partial(_http_episode, f"{url}?episode={{0}}&seed={{0}}", message)
        played = asyncio.run(_play_side_by_side(number, plan, episode))
        left = _left_at(url.replace("/mcp", "/health"), setup.idle)
        return played._replace(left=left, megabytes=megabytes_of(process))


def _retrieve(setup: _Setup, number: int, plan: Plan) -> Played:
    """Play on a server of searches, which knows no episodes."""

    def message(query: str) -> dict[str, Any]:
        return {"queries": [query], "topk": setup.k, "return_scores": True}

    words = ["retrieve", "--before", "9999"]
    with serving(setup.corpus, setup.retriever, words) as (url, process):
        episode = partial(_http_episode, url, message)
        played = asyncio.run(_play_side_by_side(number, plan, episode, '{"result":[['))
        return played._replace(megabytes=megabytes_of(process))


def _openenv(setup: _Setup, number: int, plan: Plan) -> Played:
    """Play on a server of OpenEnv with its generic client, which has no thread of its own."""
    from openenv.core import GenericEnvClient

    @asynccontextmanager
    async def episode(place: int) -> AsyncIterator[AsyncSearch]:
        async with GenericEnvClient(base_url=url) as client:
            await client.reset(seed=place)

            async def search(query: str) -> str:
                call = {"tool_name": "search", "arguments": setup.search(query)["arguments"]}
                answer = await client.step({"type": "call_tool", **call})
                return str(answer.observation["result"])

            yield search

    words = ["openenv", "--task", "discovery", "--idle", str(setup.idle)]
    words += ["--most", str(2 * number)]  # a place is free a while after its client has gone
    with serving(setup.corpus, setup.retriever, words) as (url, process):
        played = asyncio.run(_play_side_by_side(number, plan, episode))
        left = _left_at(f"{url}/health", setup.idle)
        return played._replace(left=left, megabytes=megabytes_of(process))


def _left_at(health: str, idle: float) -> int:
    """Return how many episodes a server still has after the idle time-out."""
    end = time.monotonic() + 4 * idle
    while True:
        left = int(requests.get(health, timeout=60).json()["open"])
        if not left or time.monotonic() >= end:
            return left
        time.sleep(0.2)


Way = Callable[[_Setup, int, Plan], Played]
"""Plays the episodes of a plan, a number of them at a time."""

_WAYS: dict[str, Way] = {
    "plain environment": _in_process,
    "sessions in threads": _in_threads,
    "mcp over HTTP": _mcp,
    "/retrieve": _retrieve,
}

AsyncSearch = Callable[[str], Awaitable[str]]
"""Searches and returns the result as text."""


@asynccontextmanager
async def _http_episode(
    url: str, message: Callable[[str], dict[str, Any]], place: int
) -> AsyncIterator[AsyncSearch]:
    """Lend a search over a connection of its own; `message` is what a query sends."""
    host, _, path = url.format(place).removeprefix("http://").partition("/")
    address, port = host.split(":")
    reader, writer = await asyncio.open_connection(address, int(port))

    async def search(query: str) -> str:
        body = json.dumps(message(query)).encode()
        head = (
            f"POST /{path} HTTP/1.1\r\nHost: {host}\r\n"
            "Content-Type: application/json\r\n"
            "Accept: application/json, text/event-stream\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        length = int(answer.lower().partition(b"content-length:")[2].split()[0])
        return (await reader.readexactly(length)).decode()

    yield search
    writer.close()


async def _play_side_by_side(
    number: int,
    plan: Plan,
    episode: Callable[[int], AbstractAsyncContextManager[AsyncSearch]],
    right: str = '"hits',
) -> Played:
    """Play all episodes of a plan, `number` at a time; a right answer has a part in it."""
    places, calls, lost = iter(range(len(plan))), list[float](), 0

    async def play_some(some: Iterable[int]) -> None:
        nonlocal lost
        for place in some:
            async with episode(place) as search:
                for query in plan[place % len(plan)]:
                    started = time.perf_counter()
                    text = await search(query)
                    calls.append(time.perf_counter() - started)
                    lost += right not in text

    await play_some([len(plan)])  # compiles what is compiled late
    calls.clear()
    begun = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(number):
            group.create_task(play_some(places))
    return Played(time.perf_counter() - begun, calls, lost)


def show(results: Results) -> str:
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
    return f"{head(results)}\n\n{table(title, headers, rows)}"
