"""One attempt at one request over HTTP."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from arena.errors import DataError, clip, did_you_mean
from arena.llm.errors import AgainError, LLMError, RequestRefusedError

OPENAI = "https://api.openai.com/v1"
LARGEST_ANSWER = 64 * 1024 * 1024
LONGEST_PAUSE = 300.0
"""Seconds; a server that asks for a longer pause has nothing left for today."""
_PASSING = {408, 409, 425, 429}
_REFUSED = re.compile(
    r"context.{0,20}(?:length|window|size)|maximum context|too many tokens|(?:prompt|input|request)"
    r".{0,20}too long|content.{0,5}(?:filter|policy|management)",
    re.IGNORECASE,
)


class Server:
    """An OpenAI-compatible endpoint.

    Every body, also that of an error, is bounded in time and size. No redirect is followed, so a
    prompt goes to `base_url` alone. The key is read from the environment for each request; no
    object holds it, and no text that leaves this class has it.

    Args:
        base_url: Address such as ``http://127.0.0.1:8000/v1``; None for ``$OPENAI_BASE_URL`` or
            OpenAI's.
        api_key_env: Name of the environment variable that holds the key.
        timeout: Seconds for a whole answer; one that comes in pieces may take twice as long.
    """

    def __init__(self, base_url: str | None, api_key_env: str, timeout: float) -> None:
        self._base_url, self._api_key_env, self._timeout = base_url, api_key_env, timeout
        self._session: Any = None
        self._process = 0
        self._lock = threading.Lock()

    def post(self, body: dict[str, Any]) -> str:
        """Send a request and return the body of the answer.

        Raises:
            AgainError: if another attempt may succeed.
            RequestRefusedError: if the server will never answer this request.
            LLMError: if no attempt can succeed.
        """
        status, headers, text = self._send("POST", "/chat/completions", body)
        if status != 200:
            raise self._problem(status, headers, text, str(body["model"]))
        return text

    def check(self) -> tuple[str, str]:
        """Return key and address, without a request.

        Raises:
            LLMError: if the key is missing.
            DataError: if the address or the key is malformed.
        """
        key = os.environ.get(self._api_key_env, "").strip()
        address = self._address()
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

    def _send(
        self, method: str, path: str, body: dict[str, Any] | None = None
    ) -> tuple[int, Mapping[str, str], str]:
        """Return status, headers and body of a response."""
        import requests
        import urllib3

        key, address = self.check()
        parts = urlsplit(address)
        url = parts._replace(path=parts.path.rstrip("/") + path).geturl()
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        end = time.monotonic() + self._timeout  # the package's own bound holds for each piece
        data, begun, problem = bytearray(), False, ""
        try:
            with self._connected().request(
                method, url, data=None if body is None else json.dumps(body), headers=headers,
                auth=_bearer(key), timeout=self._timeout, allow_redirects=False, stream=True,
            ) as response:  # fmt: skip
                begun = True
                while not problem and (part := response.raw.read1(1 << 16, decode_content=False)):
                    data += part
                    if len(data) > LARGEST_ANSWER:
                        raise LLMError(f"an answer of {self._where()} is larger than 64 MiB.")
                    if time.monotonic() > end:
                        problem = self._late()
        except (requests.Timeout, urllib3.exceptions.TimeoutError):
            problem = self._late()
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            kind = type(error).__name__
            problem = (
                f"the answer broke off ({kind})"
                if begun
                else f"{self._where()} cannot be reached or hung up ({kind}); is a server running "
                "there?"
            )
        # Raised out here, so that no traceback leads to the request and so to the key.
        if problem:
            raise AgainError(problem)
        return (
            response.status_code,
            response.headers,
            self._without_key(data.decode(errors="replace")),
        )

    def _connected(self) -> Any:
        """Return the connections; a forked process gets its own."""
        import requests

        with self._lock:
            if self._process != os.getpid():
                self._session, self._process = requests.Session(), os.getpid()
                for prefix in ("http://", "https://"):
                    self._session.mount(prefix, requests.adapters.HTTPAdapter(pool_maxsize=64))
            return self._session

    def _problem(self, status: int, headers: Mapping[str, str], text: str, model: str) -> Exception:
        """Return the error that an HTTP status means."""
        said, where, name = _message(text), self._where(), f"${self._api_key_env}"
        if status == 429 and "insufficient_quota" in said:
            return LLMError(f"429: the account of the key in {name} is empty.")
        if status in _PASSING or status >= 500:
            pause = _asked_pause(headers)
            if pause is not None and pause > LONGEST_PAUSE:
                return LLMError(
                    f"{status}: {where} asks to wait {pause:.0f} seconds. Try again then; earlier "
                    "answers are kept."
                )
            return AgainError(f"{where} answers {status}{said}", pause)
        if 300 <= status < 400:
            return LLMError(
                f"{status}: {where} redirects to {clip(headers.get('Location'))}, which is not "
                "followed. Give the final address as base_url."
            )
        if status in (401, 403):
            held = os.environ.get(self._api_key_env)
            what = f"the key in {name} is refused" if held else f"{name} holds no key, refused"
            return LLMError(f"{status}: {what} by {where}. Set it to one that may use it.")
        if status == 404:
            return LLMError(self._not_found(model, said))
        if status == 413 or (status in (400, 422) and _REFUSED.search(said)):
            return RequestRefusedError(f"{status}{said}")
        hint = " Leave them out with temperature=None or seed=None."
        hint = hint if re.search("temperature|seed", said) else ""
        return LLMError(f"{status}: {where} does not take the request{said}.{hint}")

    def _not_found(self, model: str, said: str) -> str:
        try:
            data = json.loads(self._send("GET", "/models")[2])["data"]
            known = sorted(str(item["id"]) for item in data)
        except Exception:  # the list is only for a hint
            known = []
        if known and model not in known:
            return f"404: {self._where()} has no model {clip(model)}.{did_you_mean(model, known)}"
        return (
            f"404: {self._where()} knows no model {clip(model)}, or is no such endpoint{said}. "
            "Check `model`; `base_url` mostly ends with /v1."
        )

    def _without_key(self, text: str) -> str:
        """Return a text without the key, which a server may repeat."""
        key = os.environ.get(self._api_key_env, "").strip()
        return text.replace(key, "***") if key else text

    def _late(self) -> str:
        return f"{self._where()} did not answer within {self._timeout:g} s (`timeout`)"

    def _address(self) -> str:
        return str(self._base_url or os.environ.get("OPENAI_BASE_URL") or OPENAI)

    def _where(self) -> str:
        """Return the address without its secrets."""
        try:
            parts = urlsplit(self._address())
        except ValueError:
            return "the server"
        return f"{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/") or "the server"


def _bearer(key: str) -> Any:
    """Return what sets the header; as `auth`, or else ~/.netrc would set another one."""

    def authorize(request: Any) -> Any:
        if key:
            request.headers["Authorization"] = f"Bearer {key}"
        return request

    return authorize


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
        text = headers.get(name)
        if text is None:
            continue
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
