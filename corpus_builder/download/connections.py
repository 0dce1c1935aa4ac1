"""Connections of a download: pauses, slow servers, and errors that hold no signed address."""

from __future__ import annotations

import http.cookiejar
import random
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
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
_REDIRECTS = 5


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
    """The download stops: another thread failed, too many files did, or the user pressed Ctrl-C."""


class Connections(requests.Session):
    """The connections of one download, with pauses between attempts.

    Args:
        parallel: Number of files fetched at once.
        patience: Seconds without a byte, or with hardly any, after which a connection is dropped.
        attempts: Number of attempts in a row without a byte.
        on_message: Function called with each line of progress.
        sleep: Function that waits for a number of seconds.
    """

    def __init__(
        self,
        parallel: int,
        patience: float,
        attempts: int,
        on_message: Callable[[str], None],
        sleep: Callable[[float], None] | None = None,
    ) -> None:
        super().__init__()
        self._parallel, self._patience, self._attempts = parallel, patience, attempts
        self.on_message, self._stop = on_message, threading.Event()
        self.sleep = self._wait if sleep is None else sleep
        self.max_redirects = _REDIRECTS
        self.auth = lambda request: request  # otherwise requests sends what ~/.netrc holds
        self.cookies.set_policy(http.cookiejar.DefaultCookiePolicy(allowed_domains=[]))
        # Sizes and checksums are those of the stored bytes.
        self.headers.update({"Accept-Encoding": "identity", "User-Agent": "researcharena"})
        for scheme in ("http://", "https://"):
            self.mount(scheme, HTTPAdapter(pool_maxsize=parallel + 1))

    def close(self) -> None:
        """Stop all threads."""
        self._stop.set()
        super().close()

    def _wait(self, seconds: float) -> None:
        if self._stop.wait(seconds):
            raise StoppedError

    def rebuild_auth(
        self, prepared_request: requests.PreparedRequest, response: requests.Response
    ) -> None:
        """Drop key and token when a redirect leads to another host or port."""
        if self.should_strip_auth(str(response.request.url), str(prepared_request.url)):
            for header in (KEY_HEADER, "Authorization"):
                prepared_request.headers.pop(header, None)

    def open(self, url: str, headers: Mapping[str, str], server: str) -> requests.Response:
        """Return the response to a GET; the caller reads its body and closes it.

        Raises:
            TransientError: If no response came, or one that says that a later request may succeed;
                the message names the server.
        """
        try:
            response = self.get(url, headers=headers, stream=True, timeout=self._patience)
        except (requests.RequestException, urllib3.exceptions.HTTPError, ValueError) as error:
            self._fail(error)
        status, pause = response.status_code, None
        if status not in (408, 425, 429) and status < 500:
            return response
        response.close()
        with suppress(urllib3.exceptions.InvalidHeader):
            pause = urllib3.Retry().parse_retry_after(response.headers.get("Retry-After", ""))
        raise TransientError(f"{server} answered {status}", pause)

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

    def text(self, response: requests.Response) -> bytes:
        """Return a short body.

        Raises:
            TransientError: If the connection breaks.
        """
        try:
            return response.content
        except (requests.RequestException, urllib3.exceptions.HTTPError, OSError) as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> NoReturn:
        """Raise `TransientError` without the error's own words: they repeat the signed address."""
        causes = [error]
        for cause in causes:  # grows
            inner = (*cause.args, getattr(cause, "reason", None), cause.__cause__)
            inner = (*inner, cause.__context__)
            causes += [e for e in inner if isinstance(e, BaseException) and e not in causes]
        wrong_link = requests.exceptions.InvalidSchema | requests.exceptions.InvalidURL
        timeouts = requests.Timeout | urllib3.exceptions.TimeoutError | TimeoutError
        # A refused connection is a time-out to urllib3, so the system's own words come first.
        reasons = [e.strerror for e in causes if isinstance(e, OSError) and e.strerror]
        for kind, reason in (
            (timeouts, f"no byte within {self._patience:g} s"),
            (urllib3.exceptions.IncompleteRead, "the connection ended early"),
            (requests.TooManyRedirects, f"redirected more than {_REDIRECTS} times"),
            (wrong_link, "redirected to something that is no http address"),
            (Exception, f"the connection failed ({type(error).__name__})"),
        ):
            reasons += [reason] * any(isinstance(cause, kind) for cause in causes)
        raise TransientError(reasons[0]) from None

    def retry(
        self, attempt: Callable[[], T], key: str, progress: Callable[[], int] = lambda: 0
    ) -> T:
        """Return what `attempt` returns; repeat it after a `TransientError` or `RestartError`.

        It fails after so many attempts in a row without `progress`, a number of bytes. Pauses
        double from half a second to a minute, or are those that the server asks for. Their jitter
        depends on `key` and the attempt alone.

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
                if failures >= self._attempts or pause > LONGEST_PAUSE:
                    more = f" and asks to wait for {pause:,.0f} s" if pause else ""
                    raise FailedError(f"{error}{more} (attempt {total})") from None
            number = max(failures - 1, 0)
            jitter = random.Random(f"{key} {number}").uniform(0.5, 1.0)
            self.sleep(max(pause, min(_LONGEST_BACKOFF, _FIRST_PAUSE * 2.0**number) * jitter))
