"""Counting calls, tokens, dollars and seconds, and stopping at a limit."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from arena.errors import DataError, clip, did_you_mean
from arena.llm.answers import Completion

N = TypeVar("N", int, float)


class Limits(NamedTuple):
    """The most that may be used; None is no limit.

    Attributes:
        max_calls: answers; never exceeded.
        max_tokens: prompt and completion; the call that crosses it is still answered, as its
            tokens are known afterwards only. The same holds for the others.
        max_dollars: needs a known price.
        max_seconds: of waiting for the model, summed over calls, as it was when they were asked,
            so that a replay stops at the same call.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_dollars: float | None = None
    max_seconds: float | None = None


def limits_of(limits: Limits | Mapping[str, Any] | None) -> Limits:
    """Return checked limits.

    Raises:
        DataError: if a name is unknown or a value is no number >= 0.
    """
    if limits is None:
        return Limits()
    if not isinstance(limits, Limits | Mapping):
        raise DataError(f"limits={clip(limits)}: give names and numbers.")
    given = limits._asdict() if isinstance(limits, Limits) else dict(limits)
    for name, value in given.items():
        if name not in Limits._fields:
            raise DataError(f"no limit {clip(name)}.{did_you_mean(name, Limits._fields)}")
        whole = name in ("max_calls", "max_tokens")
        kinds = (int,) if whole else (int, float)
        if value is not None and (type(value) not in kinds or not value >= 0):
            kind = "an integer" if whole else "a number"
            raise DataError(f"{name}={clip(value)}: give {kind} >= 0, or None for no limit.")
    return Limits(**given)


class Meter:
    """Sums over calls; one that is unknown for a call is unknown (None) in all.

    Args:
        limits: what `reached` looks at.
    """

    def __init__(self, limits: Limits | Mapping[str, Any] | None = None) -> None:
        self.limits = limits_of(limits)
        self.calls = 0
        self.prompt_tokens: int | None = 0
        self.completion_tokens: int | None = 0
        self.cached_tokens = 0
        self.dollars: float | None = 0.0
        self.seconds = 0.0
        self._lock = threading.Lock()

    def charge(self, completion: Completion) -> None:
        """Add one answer.

        Raises:
            DataError: if there is a limit on what is unknown of it.
        """
        usage = completion.usage
        with self._lock:
            self.calls += 1
            self.prompt_tokens = _plus(self.prompt_tokens, usage.prompt)
            self.completion_tokens = _plus(self.completion_tokens, usage.completion)
            self.cached_tokens += usage.cached or 0
            self.dollars = _plus(self.dollars, completion.cost)
            self.seconds += completion.seconds
        if self.limits.max_tokens is not None and self.tokens is None:
            raise DataError("the server does not count tokens, so max_tokens cannot be held.")
        if self.limits.max_dollars is not None and self.dollars is None:
            raise DataError(
                "the cost of an answer is unknown, so max_dollars cannot be held: the server "
                "counted no tokens, or the answer was recorded without a price."
            )

    @property
    def tokens(self) -> int | None:
        """Prompt and completion."""
        return _plus(self.prompt_tokens, self.completion_tokens)

    def reached(self, calls: int = 1) -> str | None:
        """Return the name of a limit that forbids as many more calls, or None."""
        used = (self.calls + calls - 1, self.tokens, self.dollars, self.seconds)
        for name, limit, value in zip(Limits._fields, self.limits, used, strict=True):
            if limit is not None and value is not None and value >= limit:
                return name
        return None

    def totals(self) -> dict[str, Any]:
        """Return all sums but the seconds, which are not the same twice."""
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cached_tokens": self.cached_tokens,
            "dollars": self.dollars,
        }


def _plus(a: N | None, b: N | None) -> N | None:
    return None if a is None or b is None else a + b
