"""Requests and answers in one form: the body that is sent, its hash, and what comes back."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from arena._internal.files import sha256_json
from arena.errors import DataError, clip
from arena.llm.errors import AgainError

KEY_VERSION = 1
"""A part of every key. Raise it if the same request must not find its old answer."""

Message = Mapping[str, Any]


def body_of(messages: Sequence[Message], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON body of a request.

    An option that is None is left out. A whole float becomes an integer, so that 0 and 0.0 are one
    request. Halves of surrogate pairs, which UTF-8 cannot encode, become U+FFFD.

    Args:
        messages: At least one message, each with a ``role``.
        options: ``model``, ``temperature`` and other fields of the protocol.

    Raises:
        DataError: if there is no message, an option is not supported, or JSON cannot hold it.
    """
    if options.get("stream") or options.get("n", 1) not in (None, 1):
        raise DataError("stream and n are not supported: a request has one answer.")
    if isinstance(messages, str | Mapping) or not messages:
        raise DataError(f"messages={clip(messages)}: give a list of messages with a role.")
    for message in messages:
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise DataError(f"{clip(message)} is no message: it has no role.")
    body = {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in options.items()
        if value is not None and name not in ("stream", "n")
    }
    body["messages"] = list(messages)
    try:
        json.dumps(body, allow_nan=False)
        plain: dict[str, Any] = clean(body)
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"a request must be JSON: {error}.") from None
    return plain


def key_of(body: Mapping[str, Any]) -> str:
    """Return the SHA-256 under which the store keeps the answer to `body`.

    The address of the server is no part of it: a local server gets another port each time, and a
    replay elsewhere has none. Two servers that give one name to different models need two stores.
    """
    # A model writes the fields of a schema in the order of the schema, so that order counts.
    ordered = {
        name: json.dumps(value) if isinstance(value, dict | list) and name != "messages" else value
        for name, value in body.items()
    }
    return sha256_json({"version": KEY_VERSION, "body": ordered})


def clean(value: Any) -> Any:
    """Return a copy of a JSON value that UTF-8 and strict JSON can hold.

    Each half of a surrogate pair becomes U+FFFD, NaN and infinities become None.
    """
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    elif isinstance(value, float) and not math.isfinite(value):
        return None
    elif isinstance(value, Mapping):
        return {clean(key): clean(item) for key, item in value.items()}
    elif isinstance(value, list | tuple):
        return [clean(item) for item in value]
    return value


def describe_request(body: Mapping[str, Any]) -> str:
    """Return a request in a few words, for an error message."""
    content = body["messages"][-1].get("content")
    text = content if isinstance(content, str) else str(content)
    count = len(body["messages"])
    words = clip(" ".join(text[:400].split()[:12]), 90)
    return (
        f"{key_of(body)[:12]} (model {clip(body.get('model'))}, {count} "
        f"message{'s' * (count > 1)}, the last begins {words})"
    )


class Usage(NamedTuple):
    """Tokens as the server counts them; None where it does not report them.

    Attributes:
        prompt: Tokens of the request, the cached ones included.
        completion: Tokens of the answer, reasoning included.
        cached: Tokens of the prompt that the server had cached.
    """

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None


class Completion(NamedTuple):
    """One answer.

    Attributes:
        key: Hash of the request.
        text: Text of the answer; empty if the model wrote none.
        tool_calls: Calls in the form of the protocol, ``{"id", "type", "function": {"name",
            "arguments"}}``, with the arguments as the model's text.
        finish_reason: ``stop``, ``length``, ``tool_calls``, ... as the server reports it.
        usage: Tokens.
        cost: Dollars when the answer was made; None if model or tokens are unknown.
        seconds: Time that the answer took when it was made, pauses and retries included.
        cached: Whether this answer comes from the store.
        refused: Why the server refuses the request, or empty; see `RequestRefusedError`.
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
        """The assistant's message, to append to the conversation."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text}
        return message | ({"tool_calls": list(self.tool_calls)} if self.tool_calls else {})

    def record(self, model: str) -> dict[str, Any]:
        """Return the answer as the store keeps it."""
        kept = {"tool_calls": list(self.tool_calls), "usage": self.usage._asdict()}
        fields = {"key": self.key, "model": model} | self._asdict() | kept
        names = ("text", "tool_calls", "finish_reason", "usage", "cost")
        left_out = {"cached", *(names if self.refused else ("refused",))}
        return {name: value for name, value in fields.items() if name not in left_out}


def from_record(record: Mapping[str, Any]) -> Completion:
    """Return the answer that `Completion.record` describes."""
    fields = {name: record[name] for name in Completion._fields if name in record}
    if "refused" in record:
        fields |= {"text": "", "usage": Usage(0, 0, 0), "cost": 0.0}
    else:
        fields |= {"tool_calls": tuple(fields["tool_calls"]), "usage": Usage(**fields["usage"])}
    return Completion(**fields, cached=True)


def read_answer(text: str, key: str, hide: Callable[[str], str]) -> Completion:
    """Return the answer in the body of a server's response.

    Args:
        text: The body.
        key: Hash of the request.
        hide: Function that removes secrets from a text, which may be in several parts.

    Raises:
        AgainError: if the body is no answer; another attempt may give one.
    """
    try:
        answer = json.loads(text, parse_constant=lambda name: None)
        choice = answer["choices"][0]
        message, reason = choice["message"], choice.get("finish_reason")
        calls = message.get("tool_calls")
        calls = [
            _tool_call(call, number)
            for number, call in enumerate(calls if isinstance(calls, list) else ())
            if isinstance(call, dict) and isinstance(call.get("function"), dict)
        ]
        text, reason = (
            hide(_content(message.get("content"))),
            reason if isinstance(reason, str) else "",
        )
        usage = _usage(answer.get("usage"))
        return Completion(key, clean(text), tuple(clean(calls)), clean(reason), usage)
    except (LookupError, TypeError, AttributeError):
        problem = f"holds no choices[0].message: {clip(text)}"
    except (ValueError, RecursionError):
        problem = f"is no JSON: {clip(text)}" if text.strip() else "is empty"
    raise AgainError(f"the answer {problem}")


def _content(content: Any) -> str:
    if isinstance(content, list):  # parts
        return "".join(_content(part.get("text")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _tool_call(call: dict[str, Any], number: int) -> dict[str, Any]:
    arguments = call["function"].get("arguments")
    if not isinstance(arguments, str):  # some servers send the object
        arguments = "" if arguments is None else json.dumps(arguments)
    function = {"name": str(call["function"].get("name") or ""), "arguments": arguments}
    return {"id": str(call.get("id") or f"call_{number}"), "type": "function", "function": function}


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, Mapping):
        return Usage()
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    numbers = (usage.get("prompt_tokens"), usage.get("completion_tokens"), cached)
    return Usage(*(n if type(n) is int and 0 <= n < 1 << 53 else None for n in numbers))
