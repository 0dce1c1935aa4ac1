"""What a client and an episode's share of it have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from arena.llm._request import Message
from arena.llm.answers import Completion
from arena.llm.errors import RequestRefusedError


class Model(ABC):
    """Something that answers requests."""

    @abstractmethod
    def answers(self, many: Sequence[Sequence[Message]], **options: Any) -> list[Completion]:
        """Return the answers to requests in their order, also those that were refused.

        Args:
            many: the messages of each request.
            options: of all requests, as the protocol calls them: ``tools``, ``response_format``,
                ``stop``, ...; None leaves one out that the client has.
        """

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Any] | None = None,
        response_format: Any = None,
        **more: Any,
    ) -> Completion:
        """Return the answer to one request.

        Args:
            messages: ``{"role": ..., "content": ...}`` and so on.
            tools: as `arena.tool_schemas` returns them.
            response_format: such as ``{"type": "json_object"}``.
            more: further options of the request, such as ``max_tokens`` or ``stop``.

        Raises:
            RequestRefusedError: if the server will not answer this request.
            LimitReachedError: if a limit of the episode is reached.
            LLMError: if the model could not be asked.
        """
        given = {"tools": tools, "response_format": response_format}
        options = more | {name: value for name, value in given.items() if value is not None}
        return _accepted(self.answers([messages], **options))[0]

    def complete_many(self, many: Sequence[Sequence[Message]], **options: Any) -> list[Completion]:
        """Return the answers to several requests, asked side by side, in their order.

        Raises:
            RequestRefusedError, LimitReachedError, LLMError: as `complete`, once all are done.
        """
        return _accepted(self.answers(many, **options))

    def failed(self, reason: str, key: str) -> None:  # noqa: B027 - not all keep it
        """Take note of a step that failed; see `ask`."""


def _accepted(completions: list[Completion]) -> list[Completion]:
    for completion in completions:
        if completion.refused:
            raise RequestRefusedError(completion.refused)
    return completions
