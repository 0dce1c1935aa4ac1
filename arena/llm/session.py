"""An episode's share of a client: its own counts, limits and notes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from arena.llm._model import Model
from arena.llm._request import Message
from arena.llm.answers import Completion
from arena.llm.client import Client
from arena.llm.errors import LimitReachedError
from arena.llm.meter import Limits, Meter


class Session(Model):
    """Counts every answer, whether it was asked for now or came from the store.

    So an episode has the same counts, reaches the same limit at the same call, and has the same
    notes when it is replayed.

    Args:
        client: asks.
        limits: of this episode. They are looked at before a request, or before a batch: one that
            does not fit under ``max_calls`` is not begun.

    Attributes:
        meter: the sums.
    """

    def __init__(self, client: Client, limits: Limits | Mapping[str, Any] | None = None) -> None:
        self._client = client
        self.meter = Meter(limits)
        client.check_price(self.meter.limits)
        self._calls: list[dict[str, Any]] = []
        self._failures: list[dict[str, Any]] = []

    def answers(self, many: Sequence[Sequence[Message]], **options: Any) -> list[Completion]:
        """Return the answers to requests in their order; see `Model`.

        Raises:
            LimitReachedError: if a limit is reached; nothing was asked then.
            LLMError: if the model could not be asked.
        """
        limit = self.meter.reached(len(many)) if many else None
        if limit is not None:
            raise LimitReachedError(
                f"the limit {limit}={getattr(self.meter.limits, limit)} of the episode is reached.",
                limit,
            )
        completions = self._client.answers(many, **options)
        for completion in completions:
            note: dict[str, Any] = {
                "request": completion.key,
                "prompt_tokens": completion.usage.prompt,
                "completion_tokens": completion.usage.completion,
                "cached_tokens": completion.usage.cached,
                "dollars": completion.cost,
            }
            self._calls.append(note | ({"refused": True} if completion.refused else {}))
            self.meter.charge(completion)
        return completions

    def failed(self, reason: str, key: str) -> None:
        """Take note of a step that failed."""
        self._failures.append({"request": key, "reason": reason[:200]})

    def notes(self) -> dict[str, Any]:
        """Return what belongs into a trajectory: no times, and nothing of where answers came from.

        Returns:
            ``model``; ``calls``: hash of the request, tokens and dollars of each; ``total``;
            ``failed``: hash and reason of the steps that failed.
        """
        return {
            "model": self._client.model,
            "calls": self._calls,
            "total": self.meter.totals(),
            "failed": self._failures,
        }
