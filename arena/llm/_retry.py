"""When to ask again, and how many at once."""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from email.utils import parsedate_to_datetime

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 60.0
LONGEST_ASKED = 300.0
"""Seconds; a server that wants a longer pause has nothing left for today."""


class AgainError(Exception):
    """This attempt failed for a reason that may pass.

    Attributes:
        pause: seconds that the server asked for, or None.
    """

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause


def backoff(key: str, attempt: int) -> float:
    """Return seconds to wait after a failed attempt (from 0).

    They double up to a minute; from a half to the whole of that, by the hash of request and
    attempt: callers that failed together come back apart, and two runs wait alike.
    """
    digest = hashlib.sha256(f"{key} {attempt}".encode()).digest()
    share = int.from_bytes(digest[:4], "little") / 2**32
    return float(min(LONGEST_PAUSE, FIRST_PAUSE * 2.0**attempt) * (0.5 + 0.5 * share))


def asked_pause(headers: Mapping[str, str]) -> float | None:
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


class Gate:
    """What all threads of a client share: places, and pauses that the server asked for.

    Args:
        parallel: calls under way at once.
        per_minute: calls begun in a minute, evenly; None for no bound.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self, parallel: int, per_minute: float | None, sleep: Callable[[float], None]
    ) -> None:
        self._places = threading.BoundedSemaphore(parallel)
        self._interval = 60.0 / per_minute if per_minute else 0.0
        self._sleep = sleep
        self._next = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def place(self) -> Iterator[None]:
        """Hold one of the places."""
        with self._places:
            yield

    def wait(self) -> None:
        """Wait until the next call may begin."""
        with self._lock:
            now = time.monotonic()
            begin = max(now, self._next)
            self._next = max(self._next, begin + self._interval)
        if begin > now:
            self._sleep(begin - now)

    def pause(self, seconds: float, everyone: bool) -> None:
        """Wait, and let all others begin no call before that if the server asked for it."""
        if everyone:
            with self._lock:
                self._next = max(self._next, time.monotonic() + seconds)
        else:
            self._sleep(seconds)
