"""One attempt at one request, through the `openai` package."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import threading
import time
from typing import Any
from urllib.parse import urlsplit

from arena.errors import DataError, clip, did_you_mean
from arena.llm._retry import LONGEST_ASKED, AgainError, asked_pause
from arena.llm.errors import LLMError, RequestRefusedError

LARGEST_ANSWER = 64 * 1024 * 1024
_PASSING = {408, 409, 425, 429}
_REFUSED = re.compile(
    r"context.{0,20}(?:length|window|size)|maximum context|too many tokens|(?:prompt|input|request)"
    r".{0,20}too long|content.{0,5}(?:filter|policy|management)",
    re.IGNORECASE,
)


class Server:
    """An OpenAI-compatible endpoint.

    The key is read from the environment when it is needed; only the package's client holds it.

    Args:
        base_url: such as ``http://127.0.0.1:8000/v1``; None for ``$OPENAI_BASE_URL`` or OpenAI's.
        api_key_env: name of the environment variable.
        timeout: seconds for a whole answer; one that comes in pieces may take twice as long.
    """

    def __init__(self, base_url: str | None, api_key_env: str, timeout: float) -> None:
        self._base_url, self._api_key_env, self._timeout = base_url, api_key_env, timeout
        self._client: Any = None
        self._made_for: tuple[Any, ...] = ()
        self._lock = threading.Lock()

    def post(self, body: dict[str, Any]) -> str:
        """Send a request and return the body of the answer.

        Raises:
            AgainError: if it may work later.
            RequestRefusedError: if the server will never answer this request.
            LLMError: if asking again is of no use.
        """
        client = self._connected()
        import openai

        rest = {name: value for name, value in body.items() if name not in ("model", "messages")}
        end = time.monotonic() + self._timeout  # the package's own bound holds for each piece
        data, problem = b"", None
        try:
            with client.chat.completions.with_streaming_response.create(
                model=body["model"], messages=body["messages"], extra_body=rest
            ) as response:
                data, problem = self._read(response, end)
        except openai.APITimeoutError:
            problem = AgainError(self._late())
        except openai.APIConnectionError as error:
            kind = type(error.__cause__ or error).__name__
            problem = AgainError(
                f"{self._where()} cannot be reached or hung up ({kind}); is a server running there?"
            )
        except openai.APIStatusError as error:
            problem = self._refusal(error, str(body["model"]))
        # Raised out here, so that no traceback leads to the package's errors and so to the key.
        if problem is not None:
            raise problem
        return data.decode("utf-8", "replace")

    def _read(self, response: Any, end: float) -> tuple[bytes, Exception | None]:
        """Return the bytes of an answer, or why there are none."""
        parts, size = [], 0
        try:
            for part in response.iter_bytes():
                parts.append(part)
                size += len(part)
                if time.monotonic() > end:
                    return b"", AgainError(self._late())
                if size > LARGEST_ANSWER:
                    return b"", LLMError(f"an answer of {self._where()} is larger than 64 MiB.")
        except Exception as error:  # whatever the package's transport raises
            return b"", AgainError(f"the answer broke off ({type(error).__name__})")
        return b"".join(parts), None

    def _refusal(self, error: Any, model: str) -> Exception:
        """Return what an HTTP status means."""
        status, said = int(error.status_code), self._said(error)
        name = f"${self._api_key_env}"
        if status == 429 and "insufficient_quota" in said:
            return LLMError(f"429: nothing is left of what the key in {name} may spend.")
        if status in _PASSING or status >= 500:
            pause = asked_pause(error.response.headers)
            if pause is not None and pause > LONGEST_ASKED:
                return LLMError(
                    f"{status}: {self._where()} asks to wait {pause:.0f} seconds. Try again then; "
                    "what was answered is kept."
                )
            return AgainError(f"{self._where()} answers {status}{said}", pause)
        if status in (401, 403):
            held = os.environ.get(self._api_key_env)
            what = f"the key in {name} was refused" if held else f"{name} holds no key"
            return LLMError(f"{status}: {what} by {self._where()}. Set it to one that may use it.")
        if status == 404:
            return LLMError(self._not_found(model, said))
        if status == 413 or (status in (400, 422) and _REFUSED.search(said)):
            return RequestRefusedError(f"{status}{said}")
        hint = " Leave them out with temperature=None or seed=None."
        hint = hint if re.search("temperature|seed", said) else ""
        return LLMError(f"{status}: {self._where()} does not take the request{said}.{hint}")

    def _not_found(self, model: str, said: str) -> str:
        try:
            known = sorted(str(item.id) for item in self._connected().models.list())
        except Exception:  # asked for a hint only
            known = []
        if known and model not in known:
            return f"404: {self._where()} has no model {clip(model)}.{did_you_mean(model, known)}"
        return (
            f"404: {self._where()} knows no model {clip(model)}, or is no such endpoint{said}. "
            "Check `model`; `base_url` mostly ends with /v1."
        )

    def _said(self, error: Any) -> str:
        """Return the server's own words, cut, without the key."""
        body = error.body
        text = body.get("message") or body if isinstance(body, dict) else body
        if isinstance(body, dict) and body.get("code"):
            text = f"{body['code']}: {text}"
        return (
            ": " + clip(" ".join(self.without_key(str(text))[:2000].split()), 300) if text else ""
        )

    def without_key(self, text: str) -> str:
        """Return a text in which a server may have repeated the key, without it."""
        key = os.environ.get(self._api_key_env, "").strip()
        return text.replace(key, "***") if key else text

    def _late(self) -> str:
        return f"{self._where()} did not answer within {self._timeout:g} s (`timeout`)"

    def _where(self) -> str:
        """Return the address without what may be secret in it."""
        address = str(self._base_url or os.environ.get("OPENAI_BASE_URL") or "")
        if not address:
            return "api.openai.com"
        try:
            parts = urlsplit(address)
        except ValueError:
            return "the server"
        return f"{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/") or "the server"

    def check(self) -> tuple[str, str | None]:
        """Return key and address, without asking anybody.

        Raises:
            LLMError: if the package or the key is missing.
            DataError: if the address or the key cannot be one.
        """
        if importlib.util.find_spec("openai") is None:
            raise LLMError(
                "asking a model needs the package openai. Run: pip install 'researcharena[llm]'. "
                "mode='replay' works without it."
            )
        key = os.environ.get(self._api_key_env, "").strip()
        address = self._base_url or os.environ.get("OPENAI_BASE_URL") or None
        if not key and address is None:
            raise LLMError(
                f"${self._api_key_env} holds no key for OpenAI. Set it, or name another endpoint "
                "(base_url)."
            )
        if not (key.isascii() and key.isprintable()):
            raise DataError(f"${self._api_key_env} holds characters that no key has.")
        if address is not None and not _is_address(address):
            raise DataError(
                f"base_url={self._where()!r} is no address: give one such as "
                "'http://127.0.0.1:8000/v1'."
            )
        return key, address

    def _connected(self) -> Any:
        """Return the package's client; another one after a fork or with another key."""
        key, address = self.check()
        import openai

        made_for = (os.getpid(), hashlib.sha256(key.encode()).digest(), address)
        with self._lock:
            if made_for != self._made_for:
                # A local server asks for no key, but the package wants one.
                self._client = openai.OpenAI(
                    api_key=key or "none", base_url=address, timeout=self._timeout, max_retries=0
                )
                self._made_for = made_for
            return self._client


def _is_address(text: object) -> bool:
    try:
        parts = urlsplit(str(text))
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of the port, or of brackets
        return False
