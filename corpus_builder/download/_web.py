"""One HTTP request: streamed, with redirects that keep the key at home, and errors without it."""

from __future__ import annotations

import http.cookiejar
import re
import threading
import time
from collections.abc import Iterator, Mapping
from urllib.parse import urljoin, urlsplit

import requests
import urllib3

from arena.llm._retry import AgainError, asked_pause
from corpus_builder.download._errors import StoppedError

BLOCK = 1 << 18
_HELD = 0.1  # seconds; what has come is handed on after that, for a kill must not cost much
_REDIRECTS = {301, 302, 303, 307, 308}
_MOST_REDIRECTS = 5
_SLOWEST = 1024  # bytes a second; a connection that gives less is taken for dead


class Web:
    """Connections of one thread.

    Args:
        patience: seconds without a byte, or with hardly any, after which a connection is dead.
        stop: set when all shall end.
    """

    def __init__(self, patience: float, stop: threading.Event) -> None:
        self._patience, self._stop = patience, stop
        self._session = requests.Session()
        self._session.auth = lambda request: request  # or else ~/.netrc would be sent
        self._session.cookies.set_policy(http.cookiejar.DefaultCookiePolicy(allowed_domains=[]))
        # Bytes as they are stored: sizes and checksums are of these.
        self._session.headers.update({"Accept-Encoding": "identity", "User-Agent": "researcharena"})

    def close(self) -> None:
        """Close all connections."""
        self._session.close()

    def get(
        self, url: str, headers: Mapping[str, str], private: Mapping[str, str] | None = None
    ) -> requests.Response:
        """Return the answer to a GET; its body has not been read, and it must be closed.

        Args:
            url: of http or https.
            headers: sent wherever redirects lead.
            private: headers for the host of `url` alone.

        Raises:
            AgainError: if no answer came. The message holds no part of `url`.
            StoppedError: if all shall end.
        """
        home, trusted = _origin(url), True
        for _ in range(_MOST_REDIRECTS + 1):
            trusted = trusted and _origin(url) == home
            try:
                response = self._session.get(
                    url,
                    headers={**headers, **(private or {} if trusted else {})},
                    stream=True,
                    allow_redirects=False,
                    timeout=self._patience,
                )
            except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
                raise AgainError(self._reason(error)) from None
            if self._stop.is_set():
                response.close()
                raise StoppedError
            target = response.headers.get("Location")
            if response.status_code not in _REDIRECTS or target is None:
                return response
            response.close()
            try:
                url = urljoin(url, target)
                if not url.startswith(("http://", "https://")) or _origin(url) is None:
                    raise ValueError
            except ValueError:
                raise AgainError("redirected to something that is no http address") from None
        raise AgainError(f"redirected more than {_MOST_REDIRECTS} times")

    def blocks(self, response: requests.Response) -> Iterator[bytes]:
        """Yield the body as it was stored, in blocks of about 256 KiB, or smaller.

        Raises:
            AgainError: if it broke off or all but stood still; what came before was yielded.
            StoppedError: if all shall end.
        """
        waiting: list[bytes] = []
        size = since = 0
        begun, failure = time.monotonic(), None
        yielded = begun
        while failure is None:
            try:
                data = response.raw.read1(BLOCK, decode_content=False)
            except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
                failure = self._reason(error)
                break
            if self._stop.is_set():
                raise StoppedError
            if not data:
                break
            waiting.append(data)
            size += len(data)
            since += len(data)
            now = time.monotonic()
            if size >= BLOCK or now - yielded >= _HELD:
                yield b"".join(waiting)
                waiting, size, yielded = [], 0, now
            if now - begun >= self._patience:
                if since < _SLOWEST * (now - begun):
                    failure = f"fewer than {_SLOWEST} bytes a second for {self._patience:g} s"
                begun, since = now, 0
        if waiting:
            yield b"".join(waiting)
        if failure is not None:
            raise AgainError(failure)

    def text(self, response: requests.Response, limit: int) -> bytes:
        """Return a short body.

        Raises:
            AgainError: if it broke off or is longer than `limit` bytes.
        """
        parts, size = [], 0
        for block in self.blocks(response):
            parts.append(block)
            size += len(block)
            if size > limit:
                raise AgainError(f"an answer of more than {limit:,} bytes")
        announced = response.headers.get("Content-Length", "")
        if announced.isdecimal() and size < int(announced):
            raise AgainError(f"the connection ended after {size:,} of {announced} bytes")
        return b"".join(parts)

    def _reason(self, error: BaseException) -> str:
        """Say why, but not with the error's own words: they repeat the address, which is a key."""
        if isinstance(error, requests.Timeout | urllib3.exceptions.TimeoutError):
            return f"no byte within {self._patience:g} s"
        seen: BaseException | None = error
        while seen is not None:
            if isinstance(seen, TimeoutError):
                return f"no byte within {self._patience:g} s"
            if isinstance(seen, OSError) and seen.errno is not None and seen.strerror:
                return seen.strerror
            if isinstance(seen, urllib3.exceptions.IncompleteRead):
                return "the connection ended early"
            inner = [part for part in seen.args if isinstance(part, BaseException)]
            reason = getattr(seen, "reason", None)
            seen = (
                inner[0] if inner
                else reason if isinstance(reason, BaseException)
                else seen.__cause__ or seen.__context__
            )  # fmt: skip
        return f"the connection failed ({type(error).__name__})"


def trouble(response: requests.Response, what: str) -> AgainError:
    """Return the error for a status that may pass."""
    return AgainError(f"{what} answered {response.status_code}", asked_pause(response.headers))


def may_pass(status: int) -> bool:
    """Return whether the same request may succeed later."""
    return status in (408, 425, 429) or status >= 500


def content_range(response: requests.Response) -> tuple[int | None, int | None]:
    """Return the first byte and the length of the whole object, as ``Content-Range`` tells."""
    text = response.headers.get("Content-Range", "")
    match = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)", text.strip(), re.ASCII)
    if match is None:
        return None, None
    first = None if match[1] is None else int(match[1])
    return first, None if match[2] == "*" else int(match[2])


def _origin(url: str) -> tuple[str, str, int | None] | None:
    try:
        parts = urlsplit(url)
        return (parts.scheme, parts.hostname, parts.port) if parts.hostname else None
    except ValueError:
        return None
