"""Time many episodes at once through the integrations over HTTP: server and client."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import numpy as np
import requests

import arena
from arena.errors import DataError
from benchmarks.report import Results, check_range, head, numbers, queries_of, table

Search = Callable[[str], Awaitable[str]]
_META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
_HEADERS = {"Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "search"}
_EPISODES = ("--task", "discovery", "--idle")  # and seconds
# What is served, the headers of a call, and what it sends beside tool and arguments.
_INTEGRATIONS: dict[str, tuple[tuple[str, ...], dict[str, str], dict[str, Any]]] = {
    "mcp": (("mcp", "--http", *_EPISODES), _HEADERS, {"_meta": _META}),
    "retrieve": (("retrieve", "--before", "9999"), {}, {}),
}


def measure(
    *,
    corpus: str,
    retriever: str = "bm25",
    integrations: tuple[str, ...] = ("mcp", "retrieve"),
    clients: tuple[str, ...] = ("1", "64", "512"),
    searches: int = 8,
    episodes: int = 512,
    k: int = 10,
    idle: float = 10.0,
) -> Results:
    """Time many episodes at once through the integrations over HTTP.

    A server is a process of its own. Each client has one connection and waits for nothing but its
    answers. All clients are in one process, which writes HTTP with little more than sockets.

    Args:
        corpus (DIR): A built corpus with a topic that can be scored.
        retriever (NAME): An engine of the corpus.
        integrations: mcp (protocol 2026-07-28), retrieve.
        clients (NUMBERS): Clients at once.
        searches: Searches of an episode.
        episodes: Episodes of each measurement, at least as many as there are clients.
        k: Hits of a search.
        idle: Seconds after which an episode that nobody plays is closed; longer than a client
            waits between two of its calls.

    Returns:
        ``corpus`` (its hash) and ``rows``: ``seconds`` of all calls, of each (``calls``), and of
        CPU (``server``, ``client``); ``lost`` (calls without hits) and ``left`` (episodes that are
        open after their idle time-out).
    """
    counts = numbers("clients", clients, int)
    check_range(1, 4096, **{f"clients {n}": n for n in counts})
    check_range(1, 10**6, searches=searches, episodes=episodes)
    if unknown := set(integrations) - _INTEGRATIONS.keys():
        raise DataError(f"--integrations {min(unknown)}: give some of {', '.join(_INTEGRATIONS)}.")
    opened = arena.Corpus.open(corpus)
    queries, rows = queries_of(opened), []
    for number in counts:
        for integration in integrations:
            plan = [list(islice(queries, searches)) for _ in range(max(episodes, number))]
            words = [
                *_INTEGRATIONS[integration][0],
                *([] if integration == "retrieve" else [str(idle)]),
            ]
            with _serving(opened, retriever, words) as (url, server):
                rows.append(asyncio.run(_play(integration, url, server, number, plan, k)))
    return {"corpus": opened.sha256, "rows": rows}


@contextmanager
def _serving(corpus: arena.Corpus, retriever: str, words: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the URL of ``arena serve WORDS`` in a process of its own, and that process' number."""
    command = [sys.executable, "-m", "arena", "serve", *words, "--port", "0"]
    command += ["--corpus", str(corpus.directory), "--retriever", retriever]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            line = server.stdout.readline().split()
            if not line:
                raise DataError("the server did not start; its message stands above.")
            yield line[2], server.pid
        finally:
            server.terminate()


async def _play(
    integration: str, url: str, server: int, clients: int, plan: list[list[str]], k: int
) -> Results:
    """Play the episodes of a plan, some at a time; return what a row has."""
    places, calls, found = iter(range(len(plan))), list[float](), 0

    async def play_some(some: Iterable[int]) -> None:
        nonlocal found
        for place in some:
            async with _http(integration, url, place, k) as search:
                for query in plan[place % len(plan)]:
                    started = time.perf_counter()
                    with suppress(OSError, EOFError):
                        text = await search(query)
                        found += '"document"' in text or '\\"hits\\"' in text
                    calls.append(time.perf_counter() - started)

    await play_some([len(plan)])  # compiles what is compiled late
    calls, found = [], 0
    begun, ours, theirs = time.perf_counter(), time.process_time(), _cpu_of(server)
    async with asyncio.TaskGroup() as group:
        for _ in range(clients):
            group.create_task(play_some(places))
    seconds, ours = time.perf_counter() - begun, time.process_time() - ours
    row = {
        "integration": integration,
        "clients": clients,
        "seconds": seconds,
        "calls": calls,
        "client": ours,
    }
    row |= {"server": _cpu_of(server) - theirs, "lost": len(calls) - found}
    health, end, left = urljoin(url, "/health"), time.monotonic() + 60, 1
    while left and time.monotonic() < end:
        time.sleep(0.2)
        left = requests.get(health, timeout=60).json().get("open", 0)
    return row | {"left": left}


@asynccontextmanager
async def _http(integration: str, url: str, place: int, k: int) -> AsyncIterator[Search]:
    """Lend a search over a connection of its own."""
    host, _, path = url.removeprefix("http://").partition("/")
    _, more, meta = _INTEGRATIONS[integration]
    if integration != "retrieve":
        path += f"?episode={place}&seed={place}"
    headers = {"Host": host, "Content-Type": "application/json", **more}
    headers["Accept"] = "application/json, text/event-stream"
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    reader, writer = await asyncio.open_connection(*host.split(":"))

    async def search(query: str) -> str:
        call = {"name": "search", "arguments": {"query": query, "k": k}, **meta}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        if integration == "retrieve":
            message = {"queries": [query], "topk": k, "return_scores": True}
        body = json.dumps(message)
        length = f"Content-Length: {len(body)}\r\n\r\n"
        writer.write(f"POST /{path} HTTP/1.1\r\n{head}{length}{body}".encode())
        answer = await reader.readuntil(b"\r\n\r\n")
        size = int(answer.lower().partition(b"content-length:")[2].split()[0])
        return (await reader.readexactly(size)).decode()

    yield search
    writer.close()


def _cpu_of(process: int) -> float:
    """Return the CPU seconds of a process; on Linux."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def show(results: Results) -> str:
    """Return a table of what `measure` returned."""
    rows, asked = [], results["settings"]
    for row in results["rows"]:
        count, (half, most) = len(row["calls"]), np.percentile(row["calls"], [50, 99])
        rows.append([
            row["integration"], row["clients"], 1e3 * row["server"] / count,
            1e3 * row["client"] / count,
            count / row["seconds"], 1e3 * half, 1e3 * most, row["lost"], row["left"],
        ])  # fmt: skip
    title = f"episodes of {asked['searches']} searches, {asked['retriever']}, k={asked['k']}"
    names = (
        "integration,clients,server CPU ms,client CPU ms,searches/s,p50 ms,p99 ms,lost,left open"
    )
    return f"{head(results)}\n\n{table(title, names.split(','), rows)}"
