"""One attempt at one request over HTTP, bounded in time and size, and the answer in it."""

from __future__ import annotations

import functools
import json
import os
import re
import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from arena.errors import DataError, clip, did_you_mean
from arena.llm.answers import Completion, LLMError, RequestRefusedError, Usage, clean

OPENAI = "https://api.openai.com/v1"
LARGEST_ANSWER = 16 << 20  # bytes; a larger answer is an error
_LARGEST_ERROR = 64 << 10  # the rest of an error's body is not read
_LARGEST_LIST = 1 << 20
_LONGEST_PAUSE = 300.0  # seconds; a server that asks for more has nothing left for today
_PASSING = {408, 409, 425, 429}
_REFUSED = re.compile(
    r"context.{0,20}(?:length|window|size)|maximum context|too many tokens|(?:prompt|input|request)"
    r".{0,20}too long|content.{0,5}(?:filter|policy|management)",
    re.IGNORECASE,
)


class AgainError(Exception):
    """Raised by an attempt that failed for a reason that may pass.

    Attributes:
        pause: Seconds that the server asks to wait, or None.
    """

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


class Server:
    """An OpenAI-compatible endpoint.

    Each attempt has a connection of its own, which is shut down when its time is over, whatever
    the server sends. No redirect is followed, so a prompt goes to `base_url` alone. The key is read
    from the environment for each request; no object holds it, and no text that leaves this class
    has it.

    Args:
        base_url: Address such as ``http://127.0.0.1:8000/v1``; None for ``$OPENAI_BASE_URL`` or
            OpenAI's.
        api_key_env: Name of the environment variable that holds the key.
        timeout: Seconds for a whole attempt.
    """

    def __init__(self, base_url: str | None, api_key_env: str, timeout: float) -> None:
        self._base_url, self._api_key_env, self._timeout = base_url, api_key_env, timeout

    def answer(self, key: str, body: dict[str, Any]) -> Completion:
        """Send a request, of which `key` is the hash, and return the answer.

        Raises:
            AgainError: if another attempt may succeed.
            RequestRefusedError: if the server will never answer this request.
            LLMError: if no attempt can succeed.
        """
        status, headers, text = self._send("/chat/completions", self._timeout, body)
        if status != 200:
            raise self._problem(status, headers, text, str(body["model"]))
        return self._read_answer(text, key)

    def _read_answer(self, text: str, key: str) -> Completion:
        """Return the answer in the body of a response; AgainError if it holds none."""
        try:
            answer = json.loads(text, parse_constant=lambda name: None)
            choice = answer["choices"][0]
            message, reason = choice["message"], choice.get("finish_reason")
            calls = message.get("tool_calls")
            calls = [
                _tool_call(call, number)
                for number, call in enumerate(calls if isinstance(calls, list) else ())
                if isinstance(call, dict) and isinstance(call.get("function"), dict)
            ]
            text = clean(self.hide(_content(message.get("content"))))  # a key may be in two parts
            reason = clean(reason) if isinstance(reason, str) else ""
            return Completion(key, text, tuple(clean(calls)), reason, _usage(answer.get("usage")))
        except (LookupError, TypeError, AttributeError):
            problem = f"holds no choices[0].message: {clip(text)}"
        except (ValueError, RecursionError):
            problem = f"is no JSON: {clip(text)}" if text.strip() else "is empty"
        raise AgainError(f"the answer {problem}")

    def check(self) -> tuple[str, str]:
        """Return key and address, without a request.

        Raises:
            LLMError: if the key is missing.
            DataError: if the address or the key is malformed.
        """
        key, address = self._key(), self._address()
        if not key and address == OPENAI:
            raise LLMError(
                f"${self._api_key_env} holds no key for OpenAI. Set it, or name another endpoint "
                "(base_url)."
            )
        if not (key.isascii() and key.isprintable()):
            raise DataError(f"${self._api_key_env} holds characters that no key has.")
        try:
            parts = urlsplit(address)
            valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:  # of the port, or of brackets
            valid = False
        if not valid:
            raise DataError(
                f"base_url={self._where()!r} is no address: give one such as "
                "'http://127.0.0.1:8000/v1'."
            )
        return key, address

    def hide(self, text: str) -> str:
        """Return a text without the key, which a server may repeat, also with JSON's escapes."""
        key = self._key()
        return _key_pattern(key).sub("***", text) if len(key) >= 8 else text

    def _send(
        self, path: str, seconds: float, body: Mapping[str, Any] | None = None
    ) -> tuple[int, Mapping[str, str], str]:
        """Return status, headers and body of a response; a request without a body is a GET."""
        import requests
        import urllib3

        key, address = self.check()
        parts = urlsplit(address)
        url = parts._replace(path=parts.path.rstrip("/") + path).geturl()
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        method, largest = ("GET", _LARGEST_LIST) if body is None else ("POST", LARGEST_ANSWER)
        data, begun, problem = bytearray(), False, ""
        with _session(seconds) as (session, late):
            try:
                with session.request(
                    method, url, data=None if body is None else json.dumps(body), headers=headers,
                    auth=functools.partial(_authorize, key), timeout=seconds, stream=True,
                    allow_redirects=False,
                ) as response:  # fmt: skip
                    begun = True
                    largest = largest if response.status_code == 200 else _LARGEST_ERROR
                    while len(data) <= largest and not late.is_set():
                        part = response.raw.read1(1 << 16, decode_content=False)
                        if not part:
                            break
                        data += part
            except (requests.Timeout, urllib3.exceptions.TimeoutError):
                late.set()
            except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
                problem = type(error).__name__
        # Raised out here, so that no traceback leads to the request and so to the key.
        where = self._where()
        if late.is_set():
            raise AgainError(f"{where} did not answer within {seconds:g} s (`timeout`)")
        if problem and begun:
            raise AgainError(f"the answer broke off ({problem})")
        if problem:
            raise AgainError(
                f"{where} cannot be reached or hung up ({problem}); is a server running there?"
            )
        if len(data) > largest and response.status_code == 200:
            raise LLMError(f"an answer of {where} is larger than {largest >> 20} MiB.")
        text = data[:largest].decode(errors="replace")
        return response.status_code, response.headers, self.hide(text)

    def _problem(self, status: int, headers: Mapping[str, str], text: str, model: str) -> Exception:
        """Return the error that an HTTP status means."""
        said, where, name = _message(text), self._where(), f"${self._api_key_env}"
        passing, pause = status in _PASSING or status >= 500, _asked_pause(headers)
        if status == 429 and "insufficient_quota" in said:
            why = f"the account of the key in {name} is empty."
        elif passing and (pause is None or pause <= _LONGEST_PAUSE):
            return AgainError(f"{where} answers {status}{said}", pause)
        elif passing:
            why = f"{where} asks to wait {pause:.0f} seconds. Try again then; answers are kept."
        elif 300 <= status < 400:
            why = f"{where} redirects to {clip(self.hide(headers.get('Location', '')))}, which is "
            why += "not followed. Give the final address as base_url."
        elif status in (401, 403):
            why = f"the key in {name} is" if self._key() else f"{name} holds no key,"
            why += f" refused by {where}. Set it to one that may use it."
        elif status == 404 and (known := self._models()) and model not in known:
            why = f"{where} has no model {clip(model)}.{did_you_mean(model, known)}"
        elif status == 404:
            why = f"{where} knows no model {clip(model)}, or is no such endpoint{said}. Check "
            why += "`model`; `base_url` mostly ends with /v1."
        elif status == 413 or (status in (400, 422) and _REFUSED.search(said)):
            return RequestRefusedError(f"{status}{said}")
        else:
            why = f"{where} does not take the request{said}."
            if re.search("temperature|seed", said):
                why += " Leave them out with temperature=None or seed=None."
        return LLMError(f"{status}: {why}")

    def _models(self) -> list[str]:
        """Return names of models that the server lists, for a hint; none if it does not say."""
        try:
            text = self._send("/models", min(self._timeout, 10.0))[2]
            return sorted(str(item["id"])[:200] for item in json.loads(text)["data"][:1000])
        except Exception:
            return []

    def _key(self) -> str:
        return os.environ.get(self._api_key_env, "").strip()

    def _address(self) -> str:
        return str(self._base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI)

    def _where(self) -> str:
        """Return the address without its secrets."""
        try:
            parts = urlsplit(self._address())
        except ValueError:
            return "the server"
        return f"{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/") or "the server"


@contextmanager
def _session(seconds: float) -> Iterator[tuple[Any, threading.Event]]:
    """Open a session whose connections are shut down after some seconds, and the event of that.

    The time-out of `requests` holds for each piece that is received: a server that sends its
    status, headers, interim responses or body byte by byte never reaches it.
    """
    import requests

    opened: list[Any] = []
    late, over = threading.Event(), threading.Event()

    class Adapter(requests.adapters.HTTPAdapter):
        def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
            pool: Any = super().get_connection_with_tls_context(*args, **options)
            make = pool.ConnectionCls

            def connection(*args: Any, **options: Any) -> Any:
                opened.append(make(*args, **options))
                return opened[-1]

            pool.ConnectionCls = connection
            return pool

    def watch() -> None:
        pause = seconds
        while not over.wait(pause):
            late.set()
            pause = 0.1  # a connection may be opened, or change its socket for TLS, after that
            for sock in [connection.sock for connection in opened if connection.sock is not None]:
                # That of the base class: an SSLSocket would go on in plain text.
                with suppress(OSError):
                    socket.socket.shutdown(getattr(sock, "socket", sock), socket.SHUT_RDWR)

    session: Any = requests.Session()
    with session:
        session.mount("http://", Adapter())
        session.mount("https://", Adapter())
        # Otherwise it would read the whole body of a redirect that is not followed.
        session.get_redirect_target = lambda response: None
        threading.Thread(target=watch, daemon=True).start()
        try:
            yield session, late
        finally:
            over.set()


def _authorize(key: str, request: Any) -> Any:
    """Set the header; as `auth`, or else ~/.netrc would set another one."""
    if key:
        request.headers["Authorization"] = f"Bearer {key}"
    return request


@functools.lru_cache(4)
def _key_pattern(key: str) -> re.Pattern[str]:
    r"""Return a pattern of a key in which any character may be escaped: ``\/``, ``\u0073``."""
    return re.compile(
        "".join(rf"(?:\\{{0,8}}{re.escape(c)}|\\{{1,8}}u(?i:{ord(c):04x}))" for c in key)
    )


def _message(text: str) -> str:
    """Return the server's own words, on one line and cut."""
    try:
        error = json.loads(text)
        error = error.get("error", error)
        words = error.get("message") or error
        words = f"{error['code']}: {words}" if error.get("code") else str(words)
    except (ValueError, AttributeError, RecursionError):
        words = text
    words = " ".join(words[:2000].split())
    return f": {clip(words, 300)}" if words else ""


def _asked_pause(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of ``Retry-After`` (a number or a date) or ``retry-after-ms``, or None."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        text = headers.get(name, "")
        try:
            seconds = float(text) * unit
        except ValueError:
            try:
                seconds = parsedate_to_datetime(text).timestamp() - time.time()
            except (ValueError, TypeError, OverflowError):
                continue
        if seconds == seconds:  # not NaN
            return max(0.0, seconds)
    return None


def _content(content: Any) -> str:
    if isinstance(content, list):  # parts
        return "".join(_content(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _tool_call(call: dict[str, Any], number: int) -> dict[str, Any]:
    arguments = call["function"].get("arguments")
    if not isinstance(arguments, str):  # some servers send the object
        arguments = "" if arguments is None else json.dumps(arguments)
    function = {"name": str(call["function"].get("name") or ""), "arguments": arguments}
    return {"id": str(call.get("id") or f"call_{number}"), "type": "function", "function": function}


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, Mapping):
        return Usage()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    numbers = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)
    return Usage(*(n if type(n) is int and 0 <= n < 1 << 53 else None for n in numbers))
