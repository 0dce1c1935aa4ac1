"""The server of integrations over HTTP: how it runs, who may ask, and how much a client may send.

No framework is imported before it is needed, so that a missing one is one clear error.
"""

from __future__ import annotations

import base64
import binascii
import gc
import hmac
import ipaddress
import os
import resource
import signal
import socket
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from arena import monitoring
from arena.errors import DataError, clip
from arena.kit.lazy import require

if TYPE_CHECKING:
    import uvicorn
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN = "ARENA_TOKEN"  # environment variable; an option would show in the list of processes
LARGEST = 4 << 20  # bytes of a body
CLIENTS = 2_000  # connections at a time
_FILES = 64  # that the server itself may open later
SOCKET = "ARENA_SOCKET"  # environment variable: a file where a process of several listens


def serve_app(
    app: ASGIApp, host: str, port: int, path: str = "", note: str = "", *, websockets: int = 0
) -> None:
    """Serve an application until Ctrl-C; print its address, followed by `path`, and a note first.

    A host that other machines reach needs the token of the environment variable `TOKEN`, which
    clients must send. Port 0 takes a free one. `websockets` is how many may be open, besides the
    `CLIENTS` that speak HTTP.
    """
    clients = connections(CLIENTS + websockets)
    server = make_server(app, host, os.environ.get(TOKEN) or None, websockets > 0, clients)
    if monitoring.tracer() is not None:  # else the process ends before the last spans are sent
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    given = os.environ.get(SOCKET)
    with socket.socket(fileno=int(given)) if given else listen(host, port) as listening:
        gc.collect()
        gc.freeze()  # else what stays, the corpus above all, is looked through again and again
        gc.callbacks.append(_freeze)
        if given:  # its standard input ends when the process that started it does
            threading.Thread(target=lambda: sys.stdin.read() or os._exit(1), daemon=True).start()
        else:
            print(f"Serving at {address(listening)}{path} until Ctrl-C.{note}", flush=True)
        with suppress(KeyboardInterrupt):  # uvicorn raises it again when all is closed
            server.run([listening])


def connections(clients: int) -> int:
    """Return how many connections `ulimit -n` leaves room for, at most `clients`; say if fewer.

    One more is answered 503. Without this it would wait for a file, and so would what reads one.
    """
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # else 1,024 clients mostly
    room = most - len([*Path("/dev/fd").iterdir()]) - _FILES
    if most == resource.RLIM_INFINITY or room >= clients:
        return clients
    print(
        f"Only {max(room, 1):,} of {clients:,} connections have room, since `ulimit -n` is "
        f"{most:,}; more get 503. Raise it to {most - room + clients:,}.",
        file=sys.stderr,
    )
    return max(room, 1)


def _freeze(phase: str, info: dict[str, int]) -> None:
    """Leave out of later collections of garbage what outlived a full one: the open episodes.

    With 16,384 of them each full one would stop all clients for 0.3 s. They are in no cycles, so
    that they are freed when they are closed.
    """
    if phase == "stop" and info["generation"] == 2:
        gc.freeze()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; clients may connect to it before the server runs."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, OverflowError) as error:
        why = error.strerror if isinstance(error, OSError) else "0 to 65535 are ports"
        raise DataError(
            f"cannot listen at {host} port {port}: {why}. Give another --host or --port; "
            "--port 0 takes a free port."
        ) from None
    # asyncio sets this on sockets of its own alone; without it a small answer takes 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def address(listening: socket.socket) -> str:
    """Return the URL of a socket that listens, without a path."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_server(
    app: ASGIApp,
    host: str,
    token: str | None,
    websockets: bool = False,
    clients: int | None = None,
) -> uvicorn.Server:
    """Return a server of an application; ``run([socket])`` serves.

    At a local address requests must name this machine: a page on the web can point a name of its
    own at it (DNS rebinding), and then sends that name as the host.
    """
    require("a server", "starlette", "uvicorn")
    monitoring.start()
    import uvicorn

    local = is_loopback(host)
    if not local and token is None:
        raise DataError(
            f"--host {clip(host)}: other machines could read the corpus. Set the environment "
            f"variable {TOKEN} to a secret that clients must send."
        )
    return uvicorn.Server(
        uvicorn.Config(
            Guard(app, local, token),
            limit_concurrency=clients or CLIENTS, http="h11", log_config=None, log_level="error",
            ws="websockets-sansio" if websockets else "none", ws_max_size=LARGEST,
            ws_per_message_deflate=False,  # a fifth of what a search costs OpenEnv's server
            access_log=False, proxy_headers=False, server_header=False,
            backlog=2048, timeout_keep_alive=75, timeout_graceful_shutdown=3,
        )
    )  # fmt: skip


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a host; localhost alone is a name of it."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _is_here(url: str) -> bool:
    """Return whether a URL names this machine."""
    try:
        return is_loopback(urlsplit(url).hostname or "")
    except ValueError:  # such as http://[
        return False


def refusal(status: int, text: object, headers: dict[str, str] | None = None) -> Response:
    """Return an answer that says what is wrong: ``{"error": text}``."""
    from starlette.responses import JSONResponse

    return JSONResponse({"error": str(text)}, status, headers)


class Guard:
    """Rejects requests without the token, with a large body and, if `local`, of foreign pages.

    Those name another host, or come from one.
    """

    def __init__(self, app: ASGIApp, local: bool, token: str | None) -> None:
        self._app, self._local, self._token = app, local, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 400, 403, 401 or 413, or let the application answer what came as a whole."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        from starlette.responses import Response

        headers = dict(scope["headers"])
        refused, size = self._refused(headers), 0
        body: list[Message] = []
        while scope["type"] == "http" and not (body and not body[-1].get("more_body")):
            body.append(await receive())  # also a refused body, or its sender reads no answer
            if body[-1]["type"] == "http.disconnect":  # nobody is there to answer
                return
            size += len(body[-1].get("body", b""))
            if size > LARGEST:
                refused = refusal(413, f"the body has more than {LARGEST:,} bytes.")
                del body[:-1]

        async def again() -> Message:
            return body.pop(0) if body else await receive()

        if scope["path"] == "/metrics" and (page := monitoring.metrics_page()) and not refused:
            refused = Response(page, media_type="text/plain; version=0.0.4")
        with monitoring.part_of(headers):
            await (refused or self._app)(scope, again, send)

    def _refused(self, headers: dict[bytes, bytes]) -> Response | None:
        host, origin = (headers.get(n, b"").decode("latin-1") for n in (b"host", b"origin"))
        if self._local and not _is_here(f"//{host}"):
            return refusal(
                400,
                f"the host {clip(host)} is no name of this machine. For clients elsewhere, start "
                f"the server with --host 0.0.0.0, and with a secret in {TOKEN} that they send.",
            )
        if self._local and origin and not _is_here(origin):
            return refusal(403, f"a page of {clip(origin)} may not ask this server.")
        if self._token is not None and not _has(headers, self._token):
            text = "send the server's token as `Authorization: Bearer`."
            return refusal(401, text, {"WWW-Authenticate": "Bearer"})
        return None


def _has(headers: dict[bytes, bytes], token: str) -> bool:
    """Return whether the token was sent; clients that know but a URL send it as a password."""
    kind, _, sent = headers.get(b"authorization", b"").partition(b" ")
    if kind.lower() == b"basic":
        try:
            sent = base64.b64decode(sent).partition(b":")[2]
        except binascii.Error:
            return False
    return hmac.compare_digest(sent.strip(), token.encode())
