"""A server on loopback that speaks the protocol of OpenAI and answers as it is told.

    with LLMServer(["first", "second", Trouble(500), {"tool_calls": [...]}]) as server:
        Client("scripted", base_url=server.url, ...)

A script is a list, used up one by one, or a function of the request's body. What it gives is a
text, a message as a dict, or a `Trouble`. `server.requests` has the bodies that came.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Trouble(NamedTuple):
    """An answer that is not as it should be.

    `body` None is the usual error object, other bytes are sent as they are. `announced` is the
    Content-Length, `slow` seconds pass before the answer, `drip` seconds before each byte of it.
    """

    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = {}  # noqa: RUF012
    announced: int | None = None
    slow: float = 0.0
    drip: float = 0.0
    hang_up: bool = False
    error: dict[str, Any] = {"message": "trouble"}  # noqa: RUF012


def tool_call(name: str, arguments: Any, call_id: str = "call_1") -> dict[str, Any]:
    """A message that calls a tool; arguments that are no text are written as JSON."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    function = {"name": name, "arguments": text}
    call = {"id": call_id, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def completion(message: str | dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """The answer around a message; tokens are words, so that tests can count them."""
    if isinstance(message, str):
        message = {"role": "assistant", "content": message}
    asked = sum(len(str(m.get("content") or "").split()) for m in body["messages"])
    said = len(str(message.get("content") or "").split())
    usage = {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}],
        "usage": usage,
    }  # fmt: skip


Answer = str | dict[str, Any] | Trouble
Script = Sequence[Answer] | Callable[[dict[str, Any]], Answer]


class LLMServer:
    """Serves a script from a port of its own while it is entered."""

    def __init__(self, script: Script, models: Sequence[str] = ("scripted",)) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.most_at_once = 0
        self._script = script
        self._models = list(models)
        self._lock = threading.Lock()
        self._at_once = 0

    def __enter__(self) -> LLMServer:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            disable_nagle_algorithm = True  # else the second write of an answer waits 40 ms
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                models = [{"id": name, "object": "model"} for name in outer._models]
                self.reply(200, json.dumps({"object": "list", "data": models}).encode())

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                body = json.loads(data)
                with outer._lock:
                    answer = outer._next(body)
                    outer.headers.append({k.lower(): v for k, v in self.headers.items()})
                    outer._at_once += 1
                    outer.most_at_once = max(outer.most_at_once, outer._at_once)
                try:
                    self.answer(answer, body)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True
                finally:
                    with outer._lock:
                        outer._at_once -= 1

            def answer(self, answer: Answer, body: dict[str, Any]) -> None:
                if not isinstance(answer, Trouble):
                    self.reply(200, json.dumps(completion(answer, body)).encode())
                    return
                outer._stopping.wait(answer.slow)
                if answer.hang_up:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    self.close_connection = True
                    return
                content = answer.body
                if content is None:
                    content = json.dumps({"error": answer.error}).encode()
                self.reply(answer.status, content, answer)

            def reply(self, status: int, content: bytes, trouble: Trouble | None = None) -> None:
                headers = {"Content-Type": "application/json"} | (
                    trouble.headers if trouble else {}
                )
                announced = trouble.announced if trouble else None
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header(
                    "Content-Length", str(len(content) if announced is None else announced)
                )
                self.end_headers()
                for byte in content if trouble and trouble.drip else ():
                    self.wfile.write(bytes([byte]))
                    outer._stopping.wait(trouble.drip if trouble else 0)
                if not (trouble and trouble.drip):
                    self.wfile.write(content)
                if announced is not None and announced != len(content):
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                pass

        self._stopping = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _next(self, body: dict[str, Any]) -> Answer:
        self.requests.append(body)
        if callable(self._script):
            return self._script(body)
        place = len(self.requests) - 1
        if place >= len(self._script):
            return Trouble(400, error={"message": "the script is over"})
        return self._script[place]


KEY = "sk-this-is-the-secret-0123456789"
HELLO = [{"role": "user", "content": "hello you there"}]


def says(text: str) -> list[dict[str, str]]:
    """A request with one message."""
    return [{"role": "user", "content": text}]


def echo(body: dict[str, Any]) -> str:
    """A script that repeats what it is told."""
    return f"You said {last_text(body)}"


def last_text(body: dict[str, Any]) -> str:
    """The content of the last message."""
    return str(body["messages"][-1].get("content") or "")


def wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait until something is true; fail if it takes too long."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never became true"
        time.sleep(0.01)
