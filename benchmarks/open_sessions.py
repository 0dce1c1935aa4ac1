"""Drive one server with many open episodes, over MCP's HTTP on loopback; on Linux.

It opens episodes that stay open, plays on in them, and then opens and closes others:

    python benchmarks/open_sessions.py --corpus demo/synthetic --open 16384 --clients 512
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from tabulate import tabulate

HEAD = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
COLUMNS = ["", "calls", "calls/s", "p50 ms", "p99 ms", "503", "lost", "kB", "files", "threads"]


class Client:
    """A connection that is kept alive; a new one where the server has closed it."""

    def __init__(self, address: str) -> None:
        self.host, self.again, self.writer = address.split("/")[2], 0, None

    async def send(self, method: str, number: int) -> bool:
        """Return whether a search (POST) or an end (DELETE) was done; ask again after 503."""
        params = {"name": "search", "arguments": {"query": f"graph {number % 1000}"}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        head = f"{method} /mcp?episode={number}&seed={number} HTTP/1.1\r\nHost: {self.host}\r\n"
        request = f"{head}{HEAD}Content-Length: {len(body)}\r\n\r\n{body}".encode()
        while True:
            if self.writer is None:
                self.reader, self.writer = await asyncio.open_connection(*self.host.split(":"))
            self.writer.write(request)
            start = (await self.reader.readuntil(b"\r\n\r\n")).lower()
            size = int(start.partition(b"content-length:")[2].split()[0])
            answer = await self.reader.readexactly(size)
            if b"connection: close" in start:
                self.close()
            if b" 503 " not in start[:13]:
                carried_out = b'"isError":false' if method == "POST" else b'"over":true'
                return b" 200 " in start[:13] and carried_out in answer
            self.again += 1
            await asyncio.sleep(0.1)

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self.writer is not None:
            self.writer.close()
            self.writer = None


async def drive(address: str, clients: int, parts: Iterator[list[tuple[str, int]]]) -> list[float]:
    """Let clients make calls, those of a part in order; return the numbers of a row."""
    times, lost, begun = list[float](), 0, time.perf_counter()
    connected = [Client(address) for _ in range(clients)]

    async def play(client: Client) -> None:
        nonlocal lost
        for call in (call for part in parts for call in part):
            started, done = time.perf_counter(), False
            with suppress(OSError, EOFError):
                done = await client.send(*call)
            if not done:
                client.close()
                lost += 1
            times.append(time.perf_counter() - started)
        client.close()

    await asyncio.gather(*map(play, connected))
    rate, again = len(times) / (time.perf_counter() - begun), sum(c.again for c in connected)
    return [len(times), rate, *(1e3 * np.percentile(times, [50, 99])), again, lost]


def main() -> None:
    """Print a row for each part, and what the server held after it."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--corpus", required=True)
    for name, default in {"open": 256, "clients": 32, "closed": 512}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    words = f"-m arena serve mcp --http --port 0 --task discovery --corpus {given.corpus}"
    command = [*words.split(), "--max-sessions", str(given.open + given.clients)]
    server = subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True)
    rows: list[list[Any]] = []

    def run(name: str, parts: Iterable[list[tuple[str, int]]]) -> None:
        row = asyncio.run(drive(address, given.clients, iter(parts)))
        status = Path(f"/proc/{server.pid}/status").read_text(encoding="utf-8").split()
        memory, threads = (int(status[status.index(f"{n}:") + 1]) for n in ("VmRSS", "Threads"))
        rows.append([name, *row, memory, len([*Path(f"/proc/{server.pid}/fd").iterdir()]), threads])

    def passing(numbers: range) -> Iterator[list[tuple[str, int]]]:
        return ([("POST", number), ("DELETE", number)] for number in numbers)

    try:
        address = server.stdout.readline().split()[2]
        run("warm up", passing(range(given.clients * 4)))
        kept = range(1 << 29, (1 << 29) + given.open)
        run("open", ([("POST", number)] for number in kept))
        run("play on", ([("POST", number)] for _ in range(2) for number in kept))
        for half in (1, 2):
            run(f"open, close {half}", passing(range(half << 30, (half << 30) + given.closed // 2)))
    finally:
        server.terminate()
    print(tabulate(rows, COLUMNS, "github", floatfmt=",.1f", intfmt=","))
    print(f"An open episode takes {(rows[1][-3] - rows[0][-3]) / given.open:.1f} kB.")


if __name__ == "__main__":
    main()
