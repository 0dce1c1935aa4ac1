"""What can go wrong between an agent and a model."""

from __future__ import annotations

from arena.errors import ArenaError


class LLMError(ArenaError):
    """The model could not be asked; the message says why and what to do. It ends a run."""


class ReplayMissError(LLMError):
    """Mode ``replay``, and the store holds no answer to this request."""


class RequestRefusedError(LLMError):
    """The server will not answer this one request: it is too long, or its content is refused.

    It concerns one step of one episode, so it is kept in the store like an answer, and `ask` makes
    a failed step of it.
    """


class LimitReachedError(ArenaError):
    """A limit of the episode; an agent catches it and ends with what it has.

    Attributes:
        limit: ``max_calls``, ``max_tokens``, ``max_dollars`` or ``max_seconds``.
    """

    def __init__(self, message: str, limit: str) -> None:
        super().__init__(message)
        self.limit = limit


class SpendingLimitError(LLMError):
    """A limit of the client, on what it really asks for; it is not an agent's to catch."""


class ParseError(ArenaError, ValueError):
    """A model's text that does not hold what was asked for; the message is told to the model."""
