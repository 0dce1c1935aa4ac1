"""Counts and limits of calls, tokens, dollars and seconds, and the prices of tokens."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from arena._internal.options import number, whole
from arena.errors import DataError, clip, did_you_mean
from arena.llm.answers import Completion, Usage

DEFAULT = Path(__file__).with_name("prices.yaml")

N = TypeVar("N", int, float)


def _check_names(what: str, names: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for name in names:
        if name not in known:
            raise DataError(f"{what} {clip(name)}.{did_you_mean(name, known)}")


class Limits(NamedTuple):
    """Limits of an episode or a client; None is no limit.

    Attributes:
        max_calls: Most answers; never exceeded.
        max_tokens: Most tokens of prompts and completions. The call that crosses it is still
            answered, since its tokens are known only afterwards. The next two work alike.
        max_dollars: Most dollars; needs a known price.
        max_seconds: Most seconds of waiting for the model, summed over calls as they were
            recorded, so that a replay stops at the same call.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_dollars: float | None = None
    max_seconds: float | None = None


class Meter:
    """Sums over calls; a sum is unknown (None) if it is unknown for one call.

    Args:
        limits: Limits that `reached` compares with.

    Raises:
        DataError: if the name of a limit is unknown or its value is no number >= 0.
    """

    def __init__(self, limits: Limits | Mapping[str, Any] | None = None) -> None:
        values = limits._asdict() if isinstance(limits, Limits) else limits or {}
        if not isinstance(values, Mapping):
            raise DataError(f"limits={clip(limits)}: give names and numbers.")
        _check_names("no limit", values, Limits._fields)
        for name, value in values.items():
            if value is not None:
                (whole if name in ("max_calls", "max_tokens") else number)(name, value, 0)
        self.limits = Limits(**values)
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
            DataError: if a limit applies to a number that the answer lacks.
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
            raise DataError("the server does not count tokens, so max_tokens cannot be kept.")
        if self.limits.max_dollars is not None and self.dollars is None:
            raise DataError(
                "the cost of an answer is unknown, so max_dollars cannot be kept: the server "
                "counted no tokens, or the answer was recorded without a price."
            )

    @property
    def tokens(self) -> int | None:
        """Tokens of prompts and completions."""
        return _plus(self.prompt_tokens, self.completion_tokens)

    def reached(self, calls: int = 1) -> str | None:
        """Return the name of a limit that forbids this many more calls, or None."""
        used = (self.calls + calls - 1, self.tokens, self.dollars, self.seconds)
        for name, limit, value in zip(Limits._fields, self.limits, used, strict=True):
            if limit is not None and value is not None and value >= limit:
                return name
        return None

    def totals(self) -> dict[str, Any]:
        """Return all sums without the seconds, which differ between runs."""
        names = ("calls", "prompt_tokens", "completion_tokens", "cached_tokens", "dollars")
        return {name: getattr(self, name) for name in names}


def _plus(a: N | None, b: N | None) -> N | None:
    return None if a is None or b is None else a + b


class Price(NamedTuple):
    """Dollars for one million tokens; `cached` is for tokens of a prompt that the server cached."""

    prompt: float
    completion: float
    cached: float | None = None

    def of(self, usage: Usage) -> float | None:
        """Return dollars, or None where the server did not count the tokens.

        >>> Price(prompt=2, completion=10, cached=1).of(Usage(1000, 100, 500))
        0.0025
        """
        if usage.prompt is None or usage.completion is None:
            return None
        cached = min(usage.cached or 0, usage.prompt)
        less = self.prompt if self.cached is None else self.cached
        micro = (usage.prompt - cached) * self.prompt + cached * less
        return (micro + usage.completion * self.completion) / 1e6


def price_of(model: str, prices: str | Path | Mapping[str, Any] | None) -> Price | None:
    """Return the price of `model`, or None if no table has exactly this name.

    Args:
        model: Name of the model at the server.
        prices: A YAML file or a table like prices.yaml, which precedes that one.

    Raises:
        DataError: if the file cannot be used, or an entry is no price.
    """
    from arena._internal.settings import read_source

    for table in (prices or {}, DEFAULT):
        entries = read_source(table, "table of models", "docs/llm.md").data
        if model in entries:
            entry, what = entries[model], f"the price of {clip(model)} has"
            if not isinstance(entry, Mapping):
                raise DataError(f"{what} no prompt and completion: {clip(entry)}.")
            _check_names(what, entry, Price._fields)
            for name in ("prompt", "completion", *entry):
                number(f"{what} {name}", entry.get(name), 0)
            return Price(**entry)
    return None
