"""What the doors over HTTP share: the server, who may ask, and bounds on what a client sends.

No framework is imported before it is needed, so that a missing one is one clear error.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import gc
import hmac
import ipaddress
import logging
import os
import resource
import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from arena._internal.lazy import require
from arena.errors import DataError, clip

if TYPE_CHECKING:
    import uvicorn
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

TOKEN = "ARENA_TOKEN"  # environment variable; an option would show in the list of processes
LARGEST = 4 << 20  # bytes of a body
CLIENTS = 2_000  # connections at a time
PATIENCE = 30.0  # seconds for a head, for a body, and for a client to read its answer
_FULL = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def serve(
    app: ASGIApp,
    host: str,
    port: int,
    path: str,
    token: str | None = None,
    websockets: bool = False,
) -> None:
    """Serve an application until Ctrl-C; print its address first.

    Args:
        app: ASGI application.
        host: Address to listen at. One that other machines reach needs a token.
        port: Port; 0 takes a free one.
        path: Path that is printed behind the address.
        token: What clients must send; None takes that of the environment variable, if it is set.
        websockets: Whether the application has WebSockets.

    Raises:
        DataError: if a package or the token is missing, or nobody can listen there.
    """
    server = make_server(app, host, token or os.environ.get(TOKEN) or None, websockets)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # else 1,024 clients mostly
    gc.collect()
    gc.freeze()  # code and corpus stay: to look for garbage in them costs a quarter of a request
    with listen(host, port) as listening:
        print(f"Serving at {address(listening)}{path} until Ctrl-C.", flush=True)
        with suppress(KeyboardInterrupt):  # uvicorn raises it again when all is closed
            server.run([listening])


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; clients may connect to it before the server runs.

    Raises:
        DataError: if nobody can listen there.
    """
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
    app: ASGIApp, host: str, token: str | None, websockets: bool = False
) -> uvicorn.Server:
    """Return a server of an application behind a `Guard`; ``run([socket])`` serves.

    Raises:
        DataError: if uvicorn is missing, or other machines reach the host and there is no token.
    """
    require("a server", "starlette", "uvicorn")
    import uvicorn

    local = is_loopback(host)
    if not local and token is None:
        raise DataError(
            f"--host {clip(host)}: other machines could read the corpus. Set the environment "
            f"variable {TOKEN} to a secret that clients must send."
        )
    logging.getLogger("uvicorn.error").addFilter(_is_news)
    return uvicorn.Server(
        uvicorn.Config(
            Guard(app, local, token), http=_protocol(), log_config=None, log_level="error",
            ws="websockets-sansio" if websockets else "none", ws_max_size=LARGEST,
            access_log=False, proxy_headers=False, server_header=False,
            backlog=2048, timeout_keep_alive=75, timeout_graceful_shutdown=3,
        )
    )  # fmt: skip


def _is_news(record: logging.LogRecord) -> bool:
    """Return False for the traces of requests that Ctrl-C ended."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a host; a name other than localhost is none."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def refusal(status: int, text: object, headers: dict[str, str] | None = None) -> Response:
    """Return an answer that says what is wrong: ``{"error": text}``."""
    from starlette.responses import JSONResponse

    return JSONResponse({"error": str(text)}, status, headers)


class Guard:
    """Lets a request through to an application when it is whole, small and allowed.

    Args:
        app: The application.
        local: Whether requests must name this machine. A page on the web can point a name of its
            own at this machine (DNS rebinding); its requests have that name as their host.
        token: What clients must send, or None.
    """

    def __init__(self, app: ASGIApp, local: bool, token: str | None) -> None:
        self._app, self._local, self._token = app, local, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 421, 403, 401, 413 or 408, or let the application answer."""
        is_start = scope["type"] == "lifespan"
        refused = None if is_start else self._not_allowed(dict(scope["headers"]))
        if scope["type"] != "http":
            await (refused or self._app)(scope, receive, send)
            return
        parts, size, half = [], 0, True
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while half:  # a refused body is read, too, or its sender never reads the answer
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        return
                    size += len(message["body"])
                    if size <= LARGEST and refused is None:
                        parts.append(message["body"])
                    half = message["more_body"]
        if refused is None and size > LARGEST:
            refused = refusal(413, f"the body has more than {LARGEST:,} bytes.")
        if refused is None and half:
            refused = refusal(408, f"the body was not there in {PATIENCE:g} s.")
        if refused is not None:
            if half:
                refused.headers["Connection"] = "close"
            await refused(scope, receive, send)
            return
        whole: list[Message] = [{"type": "http.request", "body": b"".join(parts)}]

        async def again() -> Message:
            return whole.pop() if whole else await receive()

        await self._app(scope, again, send)

    def _not_allowed(self, headers: dict[bytes, bytes]) -> Response | None:
        host = headers.get(b"host", b"").decode("latin-1")
        if self._local and not is_loopback(_name(host)):
            return refusal(421, f"Host {clip(host)} is not this machine. Use 127.0.0.1.")
        origin = headers.get(b"origin", b"").decode("latin-1")
        if self._local and origin and not is_loopback(_name(origin.partition("//")[2])):
            return refusal(403, f"a page of {clip(origin)} may not ask this server.")
        if self._token is not None and not _has(headers, self._token):
            text = "send the server's token as `Authorization: Bearer`."
            return refusal(401, text, {"WWW-Authenticate": "Bearer"})
        return None


def _name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:  # half a bracket
        return ""


def _has(headers: dict[bytes, bytes], token: str) -> bool:
    """Return whether the token was sent; clients that know but a URL send it as a password."""
    kind, _, sent = headers.get(b"authorization", b"").partition(b" ")
    if kind.lower() == b"basic":
        try:
            sent = base64.b64decode(sent).partition(b":")[2]
        except binascii.Error:
            return False
    return hmac.compare_digest(sent.strip(), token.encode())


def _protocol() -> Any:
    """Return uvicorn's protocol with a time-out where it waits for ever, and a bound on clients."""
    import h11
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Protocol(H11Protocol):
        head: asyncio.TimerHandle | None = None  # ends a connection without a whole head in time
        reader: asyncio.TimerHandle | None = None  # and one whose client does not read its answer

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.head = self._end_later()
            if len(self.connections) > CLIENTS:
                transport.write(_FULL)
                transport.close()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.conn.their_state is not h11.IDLE:
                _cancel(self.head)
                self.head = None
            elif self.head is None:
                self.head = self._end_later()

        def pause_writing(self) -> None:
            super().pause_writing()
            self.reader = self._end_later()

        def resume_writing(self) -> None:
            super().resume_writing()
            _cancel(self.reader)

        def connection_lost(self, exc: Exception | None) -> None:
            _cancel(self.head)
            _cancel(self.reader)
            super().connection_lost(exc)

        def _end_later(self) -> asyncio.TimerHandle:
            return self.loop.call_later(PATIENCE, self.transport.abort)

    return Protocol


def _cancel(timer: asyncio.TimerHandle | None) -> None:
    if timer is not None:
        timer.cancel()
