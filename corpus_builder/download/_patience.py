"""How often something is tried, and how long is waited in between."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from arena.llm._retry import AgainError, backoff
from corpus_builder.download._errors import FailedError, RestartError

T = TypeVar("T")

LONGEST_PAUSE = 900.0
"""Seconds; a server that asks for a longer pause is asked again by another run."""
_RESTARTS = 3
"""How often a file is begun, if each time what came was of no use."""


class Patience(NamedTuple):
    """How often something is tried.

    Attributes:
        attempts: in a row without a single byte.
        sleep: waits for a number of seconds.
    """

    attempts: int
    sleep: Callable[[float], None]


def persistently(
    once: Callable[[], T], label: str, patience: Patience, progress: Callable[[], int]
) -> T:
    """Try until it works, as often as is sensible.

    Args:
        once: one attempt.
        label: of the file, for the error.
        patience: how often it is tried.
        progress: how far it has come; an attempt that came further is no failure in a row.

    Raises:
        FailedError: if it has not worked.
    """
    failures = restarts = total = 0
    while True:
        before = progress()
        total += 1
        try:
            return once()
        except FailedError as error:
            raise FailedError(f"{label}: {error}") from None
        except RestartError as error:
            reason, asked, failures = str(error), None, 0
            restarts += 1
            if restarts >= _RESTARTS:
                raise FailedError(f"{label}: {reason} ({restarts} times)") from None
        except AgainError as error:
            reason, asked = str(error), error.pause
            failures = 1 if progress() > before else failures + 1
            if failures >= patience.attempts or (asked or 0.0) > LONGEST_PAUSE:
                more = f" and asks to wait for {asked:,.0f} s" if asked else ""
                raise FailedError(f"{label}: {reason}{more} (attempt {total})") from None
        patience.sleep(max(asked or 0.0, backoff(label, max(failures - 1, 0))))
