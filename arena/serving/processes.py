"""Several server processes behind one address: a proxy that reads the key of each request.

An episode stays with its process. Where that is killed, its episodes are lost: their keys start no
others.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from typing import TYPE_CHECKING, Any
from zlib import crc32

import orjson

from arena.serving import http

if TYPE_CHECKING:
    from starlette.requests import Request

LOST = "x-arena-lost"
"""Header that the proxy adds to a request whose key was lost."""
_KEYS = 1 << 18  # that are remembered
_IDLE = 75  # seconds until a client that sends nothing is left, as uvicorn does

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Routes:
    """Which process answers a key, and which keys were lost with a process that was killed."""

    def __init__(self, processes: int) -> None:
        self._processes, self._turns = processes, count()
        self._lost: dict[str, bool] = {}  # keys in use

    def find(self, key: str | None) -> tuple[int, bool]:
        """Return the number of a key's process, and whether the key was lost.

        Without a key each process has its turn.
        """
        if not key:
            return next(self._turns) % self._processes, False
        number = crc32(key.encode(errors="replace")) % self._processes
        return number, self._lost.get(key, False)

    def keep(self, key: str, ended: bool = False) -> None:
        """Remember a key that a process has answered; no longer if its episode has `ended`."""
        lost = self._lost.pop(key, False)
        if not ended:
            self._lost[key] = lost
        if len(self._lost) > _KEYS:
            del self._lost[next(iter(self._lost))]  # unused for the longest time

    def lose(self, number: int) -> int:
        """Count the keys of a process as lost; return how many were not before."""
        lost = [key for key in self._lost if self.find(key) == (number, False)]
        self._lost.update(dict.fromkeys(lost, True))
        return len(lost)


class Proxy:
    """Runs the command of this process in several others, and passes on requests to them.

    Requests with the same key (`key_of`) go to the same process. One that was killed is started
    again; one that failed ends all. Each adds to files of its own in `record`.
    """

    def __init__(
        self,
        processes: int,
        key_of: Callable[[Request], str | None] = lambda _: None,
        record: str | None = None,
    ) -> None:
        self._number, self._key_of, self._record = processes, key_of, record
        self._routes, self._clients = Routes(processes), 0
        self._running: dict[int, asyncio.subprocess.Process] = {}
        self._paths: dict[int, str] = {}  # of the socket where a process listens

    def serve(self, host: str, port: int, path: str) -> None:
        """Serve until Ctrl-C or SIGTERM, as `serve_app` does."""
        listening = http.listen(host, port)
        with listening, tempfile.TemporaryDirectory(prefix="arena-") as folder:
            if not asyncio.run(self._serve(listening, path, folder)):
                raise SystemExit(2)  # a process has said why

    async def _serve(self, listening: socket.socket, path: str, folder: str) -> bool:
        files = 1 + self._number  # of a client
        self._most = http.connections(http.CLIENTS * files) // files
        stopped = asyncio.Event()
        for sent in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(sent, stopped.set)
        ends: list[asyncio.Future[Any]] = [asyncio.ensure_future(stopped.wait())]
        try:
            for number in range(self._number):  # the first compiles for all
                await self._start(number, f"{folder}/{number}-0")
                ends.append(asyncio.ensure_future(self._keep(number, folder)))
                served = asyncio.ensure_future(self._served(number))
                await asyncio.wait({served, *ends}, return_when=asyncio.FIRST_COMPLETED)
                if not served.done():
                    served.cancel()
                    return stopped.is_set()
            await asyncio.start_server(self._connected, sock=listening)
            about = f"{http.address(listening)}{path} until Ctrl-C. {self._number} processes."
            print(f"Serving at {about}", flush=True)
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
            return stopped.is_set()
        finally:
            for end in ends:
                end.cancel()
            for each in self._running.values():
                with suppress(ProcessLookupError):
                    each.terminate()
            waits = [asyncio.ensure_future(each.wait()) for each in self._running.values()]
            await asyncio.wait(waits, timeout=10)  # who is not done by then ends with this process

    async def _start(self, number: int, path: str) -> None:
        words = [*sys.argv[1:], "--processes", "1"]
        if self._record is not None:
            words += ["--record", f"{self._record}/process-{number}"]
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind(path)
            sock.listen(2048)  # clients wait here until it serves
            self._running[number] = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "arena", *words, pass_fds=[sock.fileno()],
                env={**os.environ, http.SOCKET: str(sock.fileno())},
                stdin=asyncio.subprocess.PIPE,  # whose end says that this process has ended
                start_new_session=True,  # without Ctrl-C: this process ends it
            )  # fmt: skip
        self._paths[number] = path

    async def _keep(self, number: int, folder: str) -> None:
        """Start a process again when it was killed; return when it failed."""
        for start in count(1):
            code = await self._running[number].wait()
            if code >= 0:
                return
            print(
                f"Server process {number} was killed by signal {-code}, and with it "
                f"{self._routes.lose(number):,} episodes. It starts again.",
                file=sys.stderr,
            )
            await self._start(number, f"{folder}/{number}-{start}")

    async def _served(self, number: int) -> None:
        """Return when a process has answered, or one in its place."""
        head = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        while True:
            with suppress(OSError, EOFError):
                await self._ask(number, head, {})
                return
            await asyncio.sleep(0.1)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of a connection, one after the other."""
        streams: dict[str, Streams] = {}
        self._clients += 1
        gone = OSError, EOFError, ValueError, LookupError, asyncio.LimitOverrunError
        with suppress(*gone, asyncio.CancelledError):  # the last at the end, else it is logged
            open = True
            while open:
                answer = await self._answer(reader, streams)
                writer.write(answer)
                await writer.drain()
                open = _read(answer)[1].get(b"connection") != b"close"
        self._clients -= 1
        for _, each in [*streams.values(), (reader, writer)]:
            each.close()

    async def _answer(self, reader: asyncio.StreamReader, streams: dict[str, Streams]) -> bytes:
        """Return the answer to the next request of a client; `streams` are those to processes."""
        from starlette.requests import Request

        async with asyncio.timeout(_IDLE):
            head = await reader.readuntil(b"\r\n\r\n")
        line, headers = _read(head)
        method, target, _ = line.split(b" ")
        size = int(headers.get(b"content-length", 0))
        if b"transfer-encoding" in headers or not 0 <= size <= http.LARGEST or method == b"HEAD":
            text = f"send a body with a Content-Length of at most {http.LARGEST:,} bytes."
            return _refusal(b"413 Content Too Large", text)
        body = await reader.readexactly(size)
        if self._clients > self._most:
            return _refusal(b"503 Service Unavailable", "too many connections.")
        scope = {"type": "http", "query_string": target.partition(b"?")[2]}
        key = self._key_of(Request({**scope, "headers": [*headers.items()]}))
        number, lost = self._routes.find(key)
        if lost:
            head = head[:-2] + f"{LOST}: 1\r\n\r\n".encode()
        try:
            answer = await self._ask(number, head + body, streams)
        except (OSError, EOFError):
            text = "the server process was killed, and with it its episodes."
            return _refusal(b"502 Bad Gateway", text)
        if key and b" 200 " in answer[:13]:  # it had the token
            self._routes.keep(key, ended=method == b"DELETE")
        return answer

    async def _ask(self, number: int, request: bytes, streams: dict[str, Streams]) -> bytes:
        """Return a process' answer to a request."""
        path = self._paths[number]
        if path not in streams or streams[path][0].at_eof():
            streams[path] = await asyncio.open_unix_connection(path)
        reader, writer = streams[path]
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        while head.startswith(b"HTTP/1.1 100"):
            head = await reader.readuntil(b"\r\n\r\n")
        return head + await reader.readexactly(int(_read(head)[1][b"content-length"]))


def _read(message: bytes) -> tuple[bytes, dict[bytes, bytes]]:
    """Return the first line of a message of HTTP, and its fields, names in lower case."""
    line, *fields = message.partition(b"\r\n\r\n")[0].split(b"\r\n")
    pairs = (field.partition(b":") for field in fields)
    return line, {name.lower(): value.strip() for name, _, value in pairs}


def _refusal(status: bytes, text: str) -> bytes:
    """Return the answer that says what is wrong, after which the connection is closed."""
    body = orjson.dumps({"error": text})
    head = b"HTTP/1.1 %s\r\ncontent-type: application/json\r\nconnection: close\r\n" % status
    return head + b"content-length: %d\r\n\r\n%s" % (len(body), body)
