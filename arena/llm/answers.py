"""A model's answer: what the server said, what the store keeps of it, what an agent gets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from arena.errors import clip
from arena.llm._request import clean
from arena.llm._retry import AgainError


class Usage(NamedTuple):
    """Tokens as the server counted them; None where it did not say.

    Attributes:
        prompt: of the request, the cached ones included.
        completion: of the answer, reasoning included.
        cached: of those of the prompt, the ones that the server had from an earlier call.
    """

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None

    @property
    def total(self) -> int | None:
        """Prompt and completion."""
        if self.prompt is None or self.completion is None:
            return None
        return self.prompt + self.completion


class Completion(NamedTuple):
    """One answer.

    Attributes:
        key: hash of the request.
        text: empty if the model wrote none.
        tool_calls: as the protocol has them: ``{"id", "type", "function": {"name", "arguments"}}``,
            the arguments as the model's text.
        finish_reason: ``stop``, ``length``, ``tool_calls``, ... as the server said; may be empty.
        usage: tokens.
        cost: dollars when it was asked; None if model or tokens are unknown, never 0 for that.
        seconds: that the answer took when it was asked, pauses and repeats included.
        cached: whether it came from the store this time.
        refused: empty, or why the server would not answer; see `RequestRefusedError`.
    """

    key: str
    text: str
    tool_calls: tuple[dict[str, Any], ...] = ()
    finish_reason: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    seconds: float = 0.0
    cached: bool = False
    refused: str = ""

    @property
    def message(self) -> dict[str, Any]:
        """The assistant's message, to be put into the conversation that goes on."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        return message | ({"tool_calls": list(self.tool_calls)} if self.tool_calls else {})


def read_answer(text: str, key: str, shown: str | None = None) -> Completion:
    """Return what a server's body says.

    Args:
        text: the body.
        key: of the request.
        shown: the body as a message may quote it.

    Raises:
        AgainError: if it is no answer, which another attempt may be.
    """
    shown = text if shown is None else shown
    try:
        answer = json.loads(text, parse_constant=lambda name: None)
    except (ValueError, RecursionError):
        kind = "is empty" if not text.strip() else f"is no JSON: {clip(shown)}"
        raise AgainError(f"the answer {kind}") from None
    choices = answer.get("choices") if isinstance(answer, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise AgainError(f"the answer holds no choices[0].message: {clip(shown)}")
    return clean_completion(
        key,
        _text(message.get("content")),
        message.get("tool_calls"),
        choice.get("finish_reason"),
        answer.get("usage"),
    )


def clean_completion(
    key: str, text: str, tool_calls: Any, finish_reason: Any, usage: Any
) -> Completion:
    """Return an answer from parts of any type, in the form that the store gives back."""
    calls: list[dict[str, Any]] = []
    for call in tool_calls if isinstance(tool_calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            arguments = function.get("arguments")
            if not isinstance(arguments, str):  # some servers send the object
                arguments = "" if arguments is None else json.dumps(arguments)
            calls.append(
                {
                    "id": str(call.get("id") or f"call_{len(calls)}"),
                    "type": "function",
                    "function": {"name": str(function.get("name") or ""), "arguments": arguments},
                }
            )
    return Completion(
        key,
        clean(text),
        tuple(clean(calls)),
        clean(finish_reason) if isinstance(finish_reason, str) else "",
        _usage(usage),
    )


def _text(content: Any) -> str:
    if isinstance(content, list):  # parts
        return "".join(_text(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, Mapping):
        return Usage()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    numbers = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)
    return Usage(*(n if type(n) is int and n >= 0 else None for n in numbers))


def to_record(completion: Completion, model: str) -> dict[str, Any]:
    """Return what the store keeps."""
    record: dict[str, Any] = {"key": completion.key, "model": model}
    if completion.refused:
        return record | {"refused": completion.refused, "seconds": completion.seconds}
    return record | {
        "text": completion.text,
        "tool_calls": list(completion.tool_calls),
        "finish_reason": completion.finish_reason,
        "usage": completion.usage._asdict(),
        "cost": completion.cost,
        "seconds": completion.seconds,
    }


def from_record(record: Mapping[str, Any]) -> Completion:
    """Return the answer that `to_record` made the record of."""
    if "refused" in record:
        return Completion(
            record["key"],
            "",
            usage=Usage(0, 0, 0),
            cost=0.0,
            seconds=record["seconds"],
            cached=True,
            refused=record["refused"],
        )
    return Completion(
        record["key"],
        record["text"],
        tuple(record["tool_calls"]),
        record["finish_reason"],
        Usage(**record["usage"]),
        record["cost"],
        record["seconds"],
        cached=True,
    )
