"""How fast it goes and how long it will take, measured."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from arena._internal.progress import progress

_MEASURED = 5.0
"""Seconds from the first byte after which the rate is told, and the time that all will take."""


class Meter:
    """Counts bytes of all threads; a bar on a terminal, one line anywhere.

    Args:
        needed: bytes to be fetched.
        checked: bytes of files here that are to be read.
    """

    def __init__(self, needed: int, checked: int) -> None:
        self.received = 0
        self._left = needed
        self._told = False
        self._since: float | None = None
        self._lock = threading.Lock()
        self._bar = progress(
            total=needed + checked, desc="download", unit="B", unit_scale=True, smoothing=0.05
        )

    def add(self, count: int) -> None:
        """Count bytes that came, or, if negative, that were thrown away."""
        with self._lock:
            if count > 0:
                self.received += count
                if self._since is None:
                    self._since = time.monotonic()
            self._left -= count
            self._bar.update(count)

    def read(self, count: int) -> None:
        """Count bytes that were read here."""
        with self._lock:
            self._bar.update(count)

    def show(self, tell: Callable[[str], None]) -> None:
        """Tell the rate, once, when it can be told."""
        with self._lock:
            if self._told or self._since is None:
                return
            seconds = time.monotonic() - self._since
            if seconds < _MEASURED:
                return
            self._told = True
            rate = self.received / seconds
        tell(f"{size(rate)}/s: about {duration(self._left / rate)} left")

    def close(self) -> None:
        """Take the bar away."""
        self._bar.close()


def size(count: float) -> str:
    """Return a number of bytes for a person to read.

    >>> size(999), size(64_250_000_000)
    ('999 B', '64.2 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 999.95:
            return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:,.1f} TB"


def duration(seconds: float) -> str:
    """Return seconds for a person to read.

    >>> duration(42), duration(600), duration(7500), duration(1e6)
    ('42 s', '10 min', '2 h 5 min', '277 h 47 min')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min"
