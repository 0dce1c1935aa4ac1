"""A server on loopback that behaves like the Datasets API and the storage that its links lead to.

    with ReleaseServer({"papers": [b"...", b"..."]}) as server:
        download(directory, base_url=server.url)

API and storage have a port, hence an origin, each. `server.api` maps a path to a list of
answers used up one by one, `server.data` the name of a file; what stands in a list is a `Trouble`.
`server.requests` has what came.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import random
import socket
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, quote, unquote, urlsplit

KEY = "k3y-that-nobody-may-see"
RELEASE = "2024-02-06"
EXPIRED = b"""<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"""


class Trouble(NamedTuple):
    """An answer that is not as it should be.

    `body` None is the right one. `cut` bytes of it are sent before the connection ends; or, if
    `stall`, before nothing more comes. `before` is called first.
    """

    status: int | None = None
    headers: dict[str, str] = {}  # noqa: RUF012
    body: bytes | None = None
    cut: int | None = None
    stall: bool = False
    reset: bool = False
    before: Callable[[], None] | None = None


class Request(NamedTuple):
    """A received request: to the ``api`` or the ``storage``, with headers in lower case."""

    place: str
    method: str
    path: str
    headers: dict[str, str]


class Stored(NamedTuple):
    """An object; `etag` is the MD5 of its bytes unless it was put in several parts."""

    content: bytes
    etag: str | None = None
    headers: Mapping[str, str] = {}

    def tag(self) -> str:
        return self.etag or f'"{hashlib.md5(self.content).hexdigest()}"'


def shard(number: int, size: int = 200_000) -> bytes:
    """Return a gzip file of JSON lines of about `size` bytes; it hardly packs."""
    rng = random.Random(number)
    lines = []
    for line in range(max(1, size // 800)):
        noise = base64.b64encode(rng.randbytes(780)).decode()
        lines.append(json.dumps({"corpusid": number * 10_000 + line, "title": noise}) + "\n")
    return gzip.compress("".join(lines).encode(), 1, mtime=0)


def no_waiting(monkeypatch: Any) -> None:
    """Let downloads from here wait for nothing, and give up after four attempts."""
    monkeypatch.setenv("S2_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for name, value in {"fetch.PAUSE": 0, "fetch.ATTEMPTS": 4, "s2.INTERVAL": 0}.items():
        monkeypatch.setattr(f"corpus_builder.download.{name}", value)


class ReleaseServer:
    """Serves a release while it is entered.

    Args:
        datasets: the contents of the files of each; they are named ``part_000.gz`` and so on.
        releases: all ids, the last one is the latest.
        rate: bytes a second of each connection to the storage; None for no bound.
    """

    def __init__(
        self,
        datasets: Mapping[str, list[bytes]],
        releases: tuple[str, ...] = ("2023-12-26", RELEASE),
        rate: float | None = None,
    ) -> None:
        self.objects = {
            (dataset, f"part_{number:03}.gz"): Stored(content)
            for dataset, contents in datasets.items()
            for number, content in enumerate(contents)
        }
        self.names = list(datasets)
        self.releases = list(releases)
        self.rate = rate
        self.serial = 0  # of the links that are good
        self.api: dict[str, list[Trouble]] = {}
        self.data: dict[str, list[Trouble]] = {}
        self.links: Callable[[str], list[Any]] = self.good_links
        self.requests: list[Request] = []
        self.sent = 0  # bytes of objects
        self._lock = threading.Lock()

    def good_links(self, dataset: str) -> list[Any]:
        """Pre-signed links to the files of a dataset."""
        return [
            f"{self.storage}/staging/{RELEASE}/{dataset}/{quote(name)}"
            f"?X-Amz-Expires=600&X-Amz-Signature={self.serial}"
            for of, name in self.objects
            if of == dataset
        ]

    def expire(self) -> None:
        """Let all links that were given expire."""
        self.serial += 1

    def came(self, place: str, text: str = "") -> list[Request]:
        """Return the requests to a place whose path contains `text`."""
        with self._lock:
            return [r for r in self.requests if r.place == place and text in r.path]

    def fetched(self, text: str = "") -> list[Request]:
        """Return the requests for objects."""
        return self.came("storage", text)

    def __enter__(self) -> ReleaseServer:
        self._stopping = threading.Event()
        self._servers = [self._serve(self._answer_api), self._serve(self._answer_storage)]
        self.url, self.storage = (
            f"http://127.0.0.1:{server.server_port}" + end
            for server, end in zip(self._servers, ("/datasets/v1", ""), strict=True)
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        for server in self._servers:
            server.shutdown()
            server.server_close()

    def _serve(self, answer: Callable[[Any], None]) -> ThreadingHTTPServer:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else the second write of an answer waits 40 ms

            def do_GET(self) -> None:
                try:
                    answer(self)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: Any) -> None:
                """Say nothing of a client that was killed."""

        server = Server(("127.0.0.1", 0), Handler)
        server.daemon_threads, server.block_on_close = True, False
        options = {"poll_interval": 0.02}
        threading.Thread(target=server.serve_forever, kwargs=options, daemon=True).start()
        return server

    def _note(self, place: str, handler: Any, troubles: list[Trouble] | None) -> Trouble:
        headers = {name.lower(): value for name, value in handler.headers.items()}
        with self._lock:
            self.requests.append(Request(place, handler.command, handler.path, headers))
            trouble = troubles.pop(0) if troubles else Trouble()
        if trouble.before:
            trouble.before()
        return trouble

    # The API.

    def _answer_api(self, handler: Any) -> None:
        path = unquote(urlsplit(handler.path).path).removeprefix("/datasets/v1")
        trouble = self._note("api", handler, self.api.get(path))
        status, answer = self._api(path.strip("/").split("/"), handler.headers.get("x-api-key"))
        body = json.dumps(answer).encode() if trouble.body is None else trouble.body
        headers = {"Content-Type": "application/json", **trouble.headers}
        self._send(handler, trouble.status or status, headers, body, trouble)

    def _api(self, parts: list[str], key: str | None) -> tuple[int, Any]:
        if parts == ["release"]:
            return 200, self.releases
        release = self.releases[-1] if parts[1] == "latest" else parts[1]
        if release not in self.releases:
            return 404, {"error": "Release not found"}
        if len(parts) == 2:
            listed = [{"name": n, "description": "", "README": ""} for n in self.names]
            return 200, {"release_id": release, "README": "ODC-BY", "datasets": listed}
        if key != KEY:
            return (403 if key else 401), {"message": f"Forbidden: {key}"}
        if parts[3] not in self.names:
            return 404, {"error": "Dataset not found"}
        return 200, {
            "name": parts[3], "description": "", "README": "", "files": self.links(parts[3]),
        }  # fmt: skip

    # The storage.

    def _answer_storage(self, handler: Any) -> None:
        url = urlsplit(handler.path)
        dataset, name = unquote(url.path).split("/")[-2:]
        spec = handler.headers.get("Range")
        trouble = self._note("storage", handler, self.data.get(name))
        stored = self.objects.get((dataset, name))
        good = parse_qs(url.query).get("X-Amz-Signature") == [str(self.serial)]
        if not good:
            self._send(handler, 403, {}, EXPIRED, trouble)
            return
        if stored is None:
            self._send(handler, 404, {}, b"<Error><Code>NoSuchKey</Code></Error>", trouble)
            return
        status, headers, body = 200, {"ETag": stored.tag(), **stored.headers}, stored.content
        unchanged = handler.headers.get("If-Range") in (None, stored.tag())
        if spec and unchanged:
            first, last = spec.removeprefix("bytes=").split("-")
            start, stop = int(first), int(last) + 1 if last else len(body)
            if start >= len(body):
                status, headers = 416, {"Content-Range": f"bytes */{len(body)}"}
                body = b"<Error><Code>InvalidRange</Code></Error>"
            else:
                stop = min(stop, len(body))
                status, body = 206, body[start:stop]
                headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(stored.content)}"
        if trouble.body is not None:
            body = trouble.body
        headers |= trouble.headers
        status = trouble.status or status
        self._send(handler, status, headers, body, trouble, counted=status < 400)

    def _send(
        self,
        handler: Any,
        status: int,
        headers: dict[str, str],
        body: bytes,
        trouble: Trouble,
        counted: bool = False,
    ) -> None:
        if trouble.reset:
            linger = b"\1\0\0\0\0\0\0\0"  # close with RST
            handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            handler.connection.close()
            handler.close_connection = True
            return
        handler.send_response(status)
        for header, value in ({"Content-Length": str(len(body))} | headers).items():
            if value:
                handler.send_header(header, value)
        handler.end_headers()
        self._pour(handler, body if trouble.cut is None else body[: trouble.cut], counted)
        if trouble.stall:
            handler.wfile.flush()
            self._stopping.wait(30)
        if trouble.cut is not None or headers.get("Content-Length", body) is not body:
            handler.close_connection = True

    def _pour(self, handler: Any, body: bytes, counted: bool) -> None:
        step = len(body) or 1 if self.rate is None else max(1, int(self.rate / 100))
        for start in range(0, len(body), step):
            piece = body[start : start + step]
            if counted:  # before the client can have it: a test may look at once
                with self._lock:
                    self.sent += len(piece)
            handler.wfile.write(piece)
            if self.rate is not None:
                time.sleep(len(piece) / self.rate)


def files_of(server: ReleaseServer) -> dict[str, bytes]:
    """Return what a complete download contains, by path."""
    return {f"{of}/{name}": stored.content for (of, name), stored in server.objects.items()}


def files_in(directory: Any) -> dict[str, bytes]:
    """Return all files in a directory but its record, by path."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.name != "release.json"
    }
