"""The errors between an agent and a model."""

from __future__ import annotations

from arena.errors import ArenaError


class LLMError(ArenaError):
    """Ends a run: the model could not be asked. The message says why and what to do."""


class ReplayMissError(LLMError):
    """Raised in mode ``replay`` if the store holds no answer to a request."""


class RequestRefusedError(LLMError):
    """Raised if the server refuses one request, which is too long or has filtered content.

    It concerns one step of one episode. The store keeps it like an answer, and `ask` returns it as
    a failed step.
    """


class LimitReachedError(ArenaError):
    """Raised at a limit of the episode; the agent catches it and submits what it has.

    Attributes:
        limit: ``max_calls``, ``max_tokens``, ``max_dollars`` or ``max_seconds``.
    """

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


class SpendingLimitError(LLMError):
    """Raised at a limit of the client on new requests; agents do not catch it."""


class ParseError(ArenaError, ValueError):
    """Raised if a model's text lacks what was asked for; the model reads the message."""


class AgainError(Exception):
    """Raised by an attempt that failed for a reason that may pass.

    Attributes:
        pause: Seconds that the server asks to wait, or None.
    """

    def __init__(self, reason: str, pause: float | None = None) -> None:
        super().__init__(reason)
        self.pause = pause
