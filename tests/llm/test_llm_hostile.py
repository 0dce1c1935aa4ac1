"""Servers that mean harm: raw sockets that drip, flood, pack, echo the key, and nest.

Each attempt ends about when its time is over, and takes little memory.
"""

from __future__ import annotations

import gzip
import json
import socket
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from llm_server import HELLO, KEY, LLMServer, Trouble, says, tool_call

from arena.llm import LLMError

TIMEOUT = 1.0
Speak = Callable[[socket.socket], None]


@contextmanager
def raw_server(speak: Speak) -> Iterator[str]:
    """Read each request's head and let `speak` write to the socket until the client hangs up."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(connection: socket.socket) -> None:
        with connection:
            try:
                connection.recv(1 << 16)
                speak(connection)
            except OSError:
                pass

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def drip(start: bytes, part: bytes, pause: float = 0.05) -> Speak:
    def speak(connection: socket.socket) -> None:
        connection.sendall(start)
        for _ in range(int(30 / pause)):
            connection.sendall(part)
            time.sleep(pause)

    return speak


def flood(start: bytes, part: bytes) -> Speak:
    def speak(connection: socket.socket) -> None:
        connection.sendall(start)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            connection.sendall(part)

    return speak


STATUS = b"HTTP/1.1 200 OK\r\n"
LATE = {
    "a status line that drips": drip(b"HTTP/1.1 200 ", b"O"),
    "a header that drips": drip(STATUS + b"X: ", b"y"),
    "headers that drip": drip(STATUS, b"X: y\r\n", 0.3),
    "interim responses that drip": drip(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "endless interim responses": flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 1000),
    "a body that drips": drip(STATUS + b"Content-Length: 9999\r\n\r\n", b" "),
    "a body without an end that drips": drip(STATUS + b"\r\n", b" "),
    "a chunk size that drips": drip(STATUS + b"Transfer-Encoding: chunked\r\n\r\n", b"0"),
    "trailers that drip": drip(
        STATUS + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n"
    ),
    "an error that drips": drip(b"HTTP/1.1 500 No\r\nContent-Length: 9999\r\n\r\n", b"x"),
}  # fmt: skip


@contextmanager
def bounded() -> Iterator[None]:
    """Fail if the block takes much longer than one attempt, or much memory."""
    tracemalloc.start()
    begin = time.monotonic()
    try:
        yield
        seconds, peak = time.monotonic() - begin, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert seconds < 8 * TIMEOUT
    assert peak < 80 << 20


@pytest.mark.parametrize("speak", LATE.values(), ids=LATE)
def test_every_attempt_has_a_deadline(speak, make_client):
    with (
        raw_server(speak) as url,
        bounded(),
        pytest.raises(LLMError, match="did not answer within"),
    ):
        make_client(url, max_retries=0, timeout=TIMEOUT).complete(HELLO)


MEGABYTE = b"x" * (1 << 20)
LARGE = {
    "an answer": (STATUS + b"\r\n", MEGABYTE, "larger than 16 MiB"),
    "an answer in chunks": (
        STATUS + b"Transfer-Encoding: chunked\r\n\r\n", b"100000\r\n" + MEGABYTE + b"\r\n",
        "larger than 16 MiB",
    ),
    "an error": (b"HTTP/1.1 500 No\r\n\r\n", MEGABYTE, "answers 500"),
    "an error that passes not": (b"HTTP/1.1 400 No\r\n\r\n", MEGABYTE, "400: .* does not take"),
    "a redirect": (
        b"HTTP/1.1 307 There\r\nLocation: http://127.0.0.1:9/v1\r\n\r\n", MEGABYTE,
        "redirects to 'http://127.0.0.1:9/v1'",
    ),
    "a list of models": (b"HTTP/1.1 404 No\r\n\r\n", MEGABYTE, "404: .* knows no model"),
}  # fmt: skip


@pytest.mark.parametrize(("start", "part", "message"), LARGE.values(), ids=LARGE)
def test_every_body_has_a_largest_size(start, part, message, make_client):
    with raw_server(flood(start, part)) as url, bounded(), pytest.raises(LLMError, match=message):
        make_client(url, max_retries=0, timeout=4).complete(HELLO)


def test_many_and_long_names_of_models_give_no_long_message(make_client):
    names = [f"scripted-{n}" + "x" * 50 for n in range(10_000)]
    with (
        LLMServer([Trouble(404)], models=names) as server,
        bounded(),
        pytest.raises(LLMError, match="has no model 'scripted'") as error,
    ):
        make_client(server).complete(HELLO)
    assert len(str(error.value)) < 1000


@pytest.mark.parametrize("status", [200, 400, 500])
def test_a_packed_body_is_not_unpacked(status, make_client):
    packed = gzip.compress(bytes(300 << 20), 1)
    packed_twice = Trouble(status, packed, {"Content-Encoding": "gzip"})
    with LLMServer([packed_twice]) as server, bounded(), pytest.raises(LLMError):
        make_client(server, max_retries=0).complete(HELLO)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_carries_no_prompt_to_another_host(status, make_client):
    with LLMServer(["stolen"]) as other:
        away = Trouble(status, headers={"Location": f"{other.url}/chat/completions"})
        with LLMServer([away]) as server, pytest.raises(LLMError, match="which is not followed"):
            make_client(server).complete(HELLO)
        assert other.requests == []


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(c):04X}" for c in text)


ECHOES = {
    "plain": {"content": f"Authorization: Bearer {KEY}"},
    "parts": {"content": [{"type": "text", "text": KEY[:9]}, {"type": "text", "text": KEY[9:]}]},
    "JSON in the text": {"content": json.dumps({"header": "?"}).replace("?", escaped(KEY))},
    "arguments": tool_call("search", {"query": KEY}),
    "escaped arguments": tool_call("search", f'{{"query": "{escaped(KEY)}"}}'),
    "name of a tool": tool_call(KEY, {}),
    "id of a call": tool_call("search", {}, KEY),
}


@pytest.mark.parametrize("message", ECHOES.values(), ids=ECHOES)
@pytest.mark.parametrize("escape", [False, True])
def test_an_answer_that_repeats_the_key_is_kept_without_it(message, escape, make_client, tmp_path):
    body = json.dumps({"choices": [{"message": message, "finish_reason": KEY}]})
    if escape:
        body = body.replace(KEY, escaped(KEY)).replace(KEY[:9], escaped(KEY[:9]))
    with LLMServer([Trouble(body=body.encode())]) as server:
        answer = make_client(server).complete(HELLO)
    shown = str(answer) + (tmp_path / "answers.db").read_bytes().decode("latin-1")
    assert "***" in shown
    for level in range(4):
        assert KEY not in shown, level
        shown = shown.encode().decode("unicode_escape")


def test_a_short_placeholder_for_a_key_does_not_change_answers(make_client, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    with LLMServer(["There is none."]) as server:
        assert make_client(server).complete(HELLO).text == "There is none."


DEEP = "[" * 900 + "]" * 900
USAGE = '{"choices": [{"message": {"content": "x"}}], "usage": {"prompt_tokens": %s}}'
READABLE = {
    "a huge count": USAGE % ("9" * 400),
    "a count of another kind": USAGE % "1e400",
    "a negative count": USAGE % "-5",
}
UNREADABLE = {
    "digits that Python does not convert": USAGE % ("9" * 5000),
    "deep": "[" * 200_000,
    "deep content": '{"choices": [{"message": {"content": %s}}]}' % (
        '[{"text": ' * 600 + '"x"' + "}]" * 600
    ),
    "deep arguments": '{"choices": [{"message": {"tool_calls": [{"function": {"arguments": %s'
    % ("[" * 100_000),
}  # fmt: skip


@pytest.mark.parametrize("body", READABLE.values(), ids=READABLE)
def test_counts_that_are_no_numbers_of_tokens_are_unknown(body, make_client):
    prices = {"scripted": {"prompt": 1, "completion": 1}}
    with LLMServer([Trouble(body=body.encode())]) as server:
        answer = make_client(server, prices=prices).complete(HELLO)
    assert (answer.text, answer.usage.prompt, answer.cost) == ("x", None, None)


@pytest.mark.parametrize("body", UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.parametrize("status", [200, 400])
def test_answers_that_python_cannot_hold_are_unreadable(body, status, make_client):
    with LLMServer(lambda _: Trouble(status, body.encode())) as server:
        with pytest.raises(LLMError) as error:
            make_client(server, max_retries=1).complete(says("?"))
        assert len(server.requests) == (2 if status == 200 else 1)
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 1000


def test_parallel_attempts_end_together(make_client):
    begin = time.monotonic()
    with raw_server(LATE["a header that drips"]) as url, pytest.raises(LLMError):
        client = make_client(url, max_retries=0, timeout=TIMEOUT, max_parallel=8)
        client.complete_many([says(str(n)) for n in range(8)])
    assert time.monotonic() - begin < 8 * TIMEOUT
