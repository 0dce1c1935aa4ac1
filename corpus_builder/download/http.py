"""HTTP requests that keep secrets, report errors without addresses, and are retried."""

from __future__ import annotations

import http.cookiejar
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import NoReturn, TypeVar

import requests
import urllib3
from requests.adapters import HTTPAdapter

T = TypeVar("T")

KEY_HEADER = "x-api-key"
LONGEST_PAUSE = 900.0
"""Seconds; if a server asks for a longer pause, the request fails."""

_BLOCK = 1 << 18
_SLOWEST = 1024  # bytes a second; a connection that gives less counts as dead
_RESTARTS = 3  # attempts at a file whose content turned out to be wrong each time
_FIRST_PAUSE, _LONGEST_BACKOFF = 0.5, 60.0


class TransientError(Exception):
    """An attempt failed for a reason that may pass.

    Attributes:
        pause: Seconds that the server asked for, or None.
    """

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


class RestartError(Exception):
    """The received bytes are wrong: the file must be fetched from its beginning."""


class FailedError(Exception):
    """One file, or one answer, cannot be fetched; others may."""


class StoppedError(Exception):
    """The whole download stops: another thread failed, or the user pressed Ctrl-C."""


def retry(
    attempt: Callable[[], T],
    key: str,
    attempts: int,
    sleep: Callable[[float], None],
    progress: Callable[[], int] = lambda: 0,
) -> T:
    """Return what `attempt` returns; call it again after a `TransientError` or a `RestartError`.

    It fails after so many `attempts` in a row without `progress`, a number of bytes. Pauses double
    from half a second to a minute, or are those that the server asks for. Their jitter depends on
    `key` and the attempt alone.

    Raises:
        FailedError: If all attempts fail.
    """
    failures = restarts = total = 0
    while True:
        before, pause = progress(), 0.0
        total += 1
        try:
            return attempt()
        except RestartError as error:
            failures, restarts = 0, restarts + 1
            if restarts >= _RESTARTS:
                raise FailedError(f"{error} ({restarts} times)") from None
        except TransientError as error:
            pause = error.pause or 0.0
            failures = 1 if progress() > before else failures + 1
            if failures >= attempts or pause > LONGEST_PAUSE:
                more = f" and asks to wait for {pause:,.0f} s" if pause else ""
                raise FailedError(f"{error}{more} (attempt {total})") from None
        number = max(failures - 1, 0)
        jitter = random.Random(f"{key} {number}").uniform(0.5, 1.0)
        sleep(max(pause, min(_LONGEST_BACKOFF, _FIRST_PAUSE * 2.0**number) * jitter))


class HttpSession(requests.Session):
    """Connections for all threads of a download.

    Args:
        patience: Seconds without a byte, or with hardly any, after which a connection is dropped.
        parallel: Number of threads.
        stop: Event that is set when the whole download stops.
    """

    def __init__(self, patience: float, parallel: int, stop: threading.Event) -> None:
        super().__init__()
        self._patience, self._stop = patience, stop
        self.max_redirects = 5
        self.auth = lambda request: request  # otherwise requests sends what ~/.netrc holds
        self.cookies.set_policy(http.cookiejar.DefaultCookiePolicy(allowed_domains=[]))
        # Sizes and checksums are those of the stored bytes.
        self.headers.update({"Accept-Encoding": "identity", "User-Agent": "researcharena"})
        for scheme in ("http://", "https://"):
            self.mount(scheme, HTTPAdapter(pool_maxsize=parallel + 1))

    def rebuild_auth(
        self, prepared_request: requests.PreparedRequest, response: requests.Response
    ) -> None:
        """Drop key and token when a redirect leads to another host or port."""
        if self.should_strip_auth(str(response.request.url), str(prepared_request.url)):
            for header in (KEY_HEADER, "Authorization"):
                prepared_request.headers.pop(header, None)

    def open(self, url: str, headers: Mapping[str, str]) -> requests.Response:
        """Return the response to a GET; the caller reads its body and closes it.

        Raises:
            TransientError: If no response came. The message holds no part of `url`.
            StoppedError: If the whole download stops.
        """
        try:
            response = self.get(url, headers=headers, stream=True, timeout=self._patience)
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            self._fail(error)
        if self._stop.is_set():
            response.close()
            raise StoppedError
        return response

    def blocks(self, response: requests.Response) -> Iterator[bytes]:
        """Yield the body as the server stores it, in blocks of at most 256 KiB.

        Raises:
            TransientError: If the connection breaks or nearly stands still.
            StoppedError: If the whole download stops.
        """
        begun, received = time.monotonic(), 0
        while True:
            try:
                data = response.raw.read1(_BLOCK, decode_content=False)
            except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
                self._fail(error)
            if self._stop.is_set():
                raise StoppedError
            if not data:
                return
            yield data
            received += len(data)
            seconds = time.monotonic() - begun
            if seconds >= self._patience:
                if received < _SLOWEST * seconds:
                    raise TransientError(
                        f"fewer than {_SLOWEST} bytes a second for {self._patience:g} s"
                    )
                begun, received = time.monotonic(), 0

    def text(self, response: requests.Response, limit: int) -> bytes:
        """Return a short body.

        Raises:
            TransientError: If the connection breaks, or the body is longer than `limit` bytes.
        """
        body = bytearray()
        for block in self.blocks(response):
            body += block
            if len(body) > limit:
                raise TransientError(f"an answer of more than {limit:,} bytes")
        announced = content_length(response)
        if announced is not None and len(body) < announced:
            raise TransientError(f"the connection ended after {len(body):,} of {announced} bytes")
        return bytes(body)

    def _fail(self, error: BaseException) -> NoReturn:
        """Raise `TransientError` without the error's own words: they repeat the signed address."""
        reason = f"the connection failed ({type(error).__name__})"
        if isinstance(error, requests.TooManyRedirects):
            reason = f"redirected more than {self.max_redirects} times"
        elif isinstance(error, requests.exceptions.InvalidSchema | requests.exceptions.InvalidURL):
            reason = "redirected to something that is no http address"
        causes = [error]
        for cause in causes:  # grows
            inner = (*cause.args, getattr(cause, "reason", None), cause.__cause__)
            inner = (*inner, cause.__context__)
            causes += [e for e in inner if isinstance(e, BaseException) and e not in causes]
        kinds = (requests.Timeout, urllib3.exceptions.TimeoutError, TimeoutError)
        # A refused connection is a time-out to urllib3, so the system's own words come first.
        if spoken := [e.strerror for e in causes if isinstance(e, OSError) and e.strerror]:
            reason = spoken[0]
        elif any(isinstance(cause, kinds) for cause in causes):
            reason = f"no byte within {self._patience:g} s"
        elif any(isinstance(cause, urllib3.exceptions.IncompleteRead) for cause in causes):
            reason = "the connection ended early"
        raise TransientError(reason) from None


def check_status(response: requests.Response, server: str) -> None:
    """Raise `TransientError`, which names the server, if the same request may succeed later."""
    status = response.status_code
    if status not in (408, 425, 429) and status < 500:
        return
    try:
        pause = urllib3.Retry().parse_retry_after(response.headers.get("Retry-After", ""))
    except urllib3.exceptions.InvalidHeader:
        pause = None
    raise TransientError(f"{server} answered {status}", pause)


def content_length(response: requests.Response) -> int | None:
    """Return the announced number of bytes of the body."""
    text = response.headers.get("Content-Length", "")
    return int(text) if text.isdecimal() else None


def content_range(response: requests.Response) -> tuple[int | None, int | None]:
    """Return the first byte and the size of the whole object from ``Content-Range``."""
    text = response.headers.get("Content-Range", "")
    match = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)", text.strip(), re.ASCII)
    if match is None:
        return None, None
    first = None if match[1] is None else int(match[1])
    return first, None if match[2] == "*" else int(match[2])
