"""Requests and answers in one form, what they cost, the limits on that, and the errors."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, TypeVar

import yaml
from annotated_types import Ge

from arena.errors import ArenaError, DataError, clip
from arena.kit.files import sha256_json
from arena.kit.options import check_options
from arena.text.display import count

PRICES = Path(__file__).with_name("prices.yaml")
KEY_VERSION = 1
"""A part of every key. Raise it if the same request must not find its old answer."""

Message = Mapping[str, Any]
N = TypeVar("N", int, float)


def body_of(messages: Sequence[Message], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON body of a request.

    An option that is None is left out. A whole float becomes an integer, so that 0 and 0.0 are one
    request. Halves of surrogate pairs, which UTF-8 cannot encode, become U+FFFD.
    """
    if options.get("stream") or options.get("n", 1) not in (None, 1):
        raise DataError("stream and n are not supported: a request has one answer.")
    if isinstance(messages, str | Mapping) or not messages:
        raise DataError(f"messages={clip(messages)}: give a list of messages with a role.")
    for message in messages:
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise DataError(f"{clip(message)} is not a message: it has no role.")
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

    The address of the server is not a part of it: a local server gets another port each time, and a
    replay elsewhere has none. Two servers that give one name to different models need two stores.
    """
    # A model writes the fields of a schema in the order of the schema, so that order counts.
    ordered = {
        name: json.dumps(value) if isinstance(value, dict | list) and name != "messages" else value
        for name, value in body.items()
    }
    return sha256_json({"version": KEY_VERSION, "body": ordered})


def clean(value: Any) -> Any:
    """Return a copy of a JSON value that UTF-8 and strict JSON can represent.

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
    words = clip(" ".join(text[:400].split()[:12]), 90)
    return (
        f"{key_of(body)[:12]} (model {clip(body.get('model'))}, "
        f"{count(len(body['messages']), 'message')}, the last begins {words})"
    )


class Usage(NamedTuple):
    """Tokens as the server counts them, None where it does not: cached ones are of the prompt."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None


class Completion(NamedTuple):
    """One answer.

    Attributes:
        key: Hash of the request.
        text: Text of the answer; empty if the model wrote none.
        tool_calls: Calls in the form of the protocol, ``{"id", "type", "function": {"name",
            "arguments"}}``, with the arguments as the model's text, and what else the server sent
            with a call, such as the signature of a thought.
        finish_reason: ``stop``, ``length``, ``tool_calls``, ... as the server reports it.
        usage: Tokens.
        cost: Dollars when the answer was made, or at today's price if none was known then; None if
            model or tokens are unknown.
        seconds: Time that the answer took when it was made, pauses and retries included.
        cached: Whether this answer comes from the store.
        refused: Why the server refuses the request, or empty; see `RequestRefusedError`.
        extra: Further fields of the message that the server wants back with it, such as
            ``reasoning_content``.
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
    extra: Mapping[str, Any] = MappingProxyType({})

    @property
    def message(self) -> dict[str, Any]:
        """The assistant's message, to append to the conversation."""
        message: dict[str, Any] = {"role": "assistant", "content": self.text, **self.extra}
        return message | ({"tool_calls": list(self.tool_calls)} if self.tool_calls else {})

    def record(self, model: str) -> dict[str, Any]:
        """Return the answer as the store keeps it."""
        kept = {"tool_calls": list(self.tool_calls), "usage": self.usage._asdict()}
        fields = {"key": self.key, "model": model} | self._asdict() | kept
        names = ("text", "tool_calls", "finish_reason", "usage", "cost")
        left_out = {"cached", *(names if self.refused else ("refused",))}
        left_out |= set() if self.extra else {"extra"}
        return {name: value for name, value in fields.items() if name not in left_out}


def from_record(record: Mapping[str, Any]) -> Completion:
    """Return the answer that `Completion.record` describes."""
    fields = {name: record[name] for name in Completion._fields if name in record}
    if "refused" in record:
        fields |= {"text": "", "usage": Usage(0, 0, 0), "cost": 0.0}
    else:
        fields |= {"tool_calls": tuple(fields["tool_calls"]), "usage": Usage(**fields["usage"])}
    return Completion(**fields, cached=True)


@dataclass(frozen=True)
class Limits:
    """Limits of an episode or a client; None is no limit.

    Attributes:
        max_calls: Most answers; never exceeded.
        max_tokens: Most tokens of prompts and completions. The call that crosses it is still
            answered, since its tokens are known only afterwards. The next two work alike.
        max_dollars: Most dollars; needs a known price.
        max_seconds: Most seconds of waiting for the model, summed over calls as they were
            recorded, so that a replay stops at the same call.
    """

    max_calls: Annotated[int, Ge(0)] | None = None
    max_tokens: Annotated[int, Ge(0)] | None = None
    max_dollars: Annotated[float, Ge(0)] | None = None
    max_seconds: Annotated[float, Ge(0)] | None = None


class Meter:
    """Sums over calls; a sum is unknown (None) if it is unknown for one call."""

    def __init__(self, limits: Limits | Mapping[str, Any] | None = None) -> None:
        values = vars(limits) if isinstance(limits, Limits) else limits or {}
        self.limits = Limits(**check_options("limits", Limits, values))
        self.calls = 0
        self.prompt_tokens: int | None = 0
        self.completion_tokens: int | None = 0
        self.cached_tokens = 0
        self.dollars: float | None = 0.0
        self.seconds = 0.0
        self._lock = threading.Lock()

    def charge(self, completion: Completion) -> None:
        """Add one answer."""
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

    def limit_exceeded(self, calls: int = 1) -> str | None:
        """Return the name of a limit that forbids this many more calls, or None."""
        used = (self.calls + calls - 1, self.tokens, self.dollars, self.seconds)
        for (name, limit), value in zip(vars(self.limits).items(), used, strict=True):
            if limit is not None and value is not None and value >= limit:
                return name
        return None

    def totals(self) -> dict[str, Any]:
        """Return all sums without the seconds, which differ between runs."""
        names = ("calls", "prompt_tokens", "completion_tokens", "cached_tokens", "dollars")
        return {name: getattr(self, name) for name in names}


def sum_totals(totals: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return the sum of several `Meter.totals`; one unknown part makes a sum unknown."""
    columns = {key: [each[key] for each in totals] for key in (totals[0] if totals else ())}
    return {
        key: None if None in of else sum(value or 0 for value in of) for key, of in columns.items()
    }


def _plus(a: N | None, b: N | None) -> N | None:
    return None if a is None or b is None else a + b


@dataclass(frozen=True)
class Price:
    """Dollars for one million tokens; `cached` is for tokens of a prompt that the server cached."""

    prompt: Annotated[float, Ge(0)]
    completion: Annotated[float, Ge(0)]
    cached: Annotated[float, Ge(0)] | None = None

    def cost(self, usage: Usage) -> float | None:
        """Return dollars, or None where the server did not count the tokens.

        >>> Price(prompt=2, completion=10, cached=1).cost(Usage(1000, 100, 500))
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

    `prices` is a YAML file or a table like prices.yaml, which precedes that one.
    """
    for table in (prices or {}, PRICES):
        entries = table if isinstance(table, Mapping) else _table(Path(table))
        if model in entries:
            entry, what = entries[model], f"price of {clip(model)}"
            if not isinstance(entry, Mapping):
                raise DataError(f"the {what} has no prompt and completion: {clip(entry)}.")
            return Price(**check_options(what, Price, entry))
    return None


def _table(path: Path) -> dict[str, Any]:
    """Return the prices in a YAML file, by name of the model."""
    try:
        data = yaml.safe_load(path.read_bytes())
    except OSError as error:
        why = error.strerror
        raise DataError(f"{str(path)!r} cannot be read: {why}. Name a YAML file.") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        why = clip(" ".join(str(error).split()), 200)
        raise DataError(f"{str(path)!r} is not YAML: {why}") from None
    if not isinstance(data, dict):
        raise DataError(f"{str(path)!r} contains no table of models. See docs/llm.md.")
    return {str(name): entry for name, entry in data.items()}


class LLMError(ArenaError):
    """Ends a run: the model could not be asked. The message says why and what to do."""


class ReplayMissError(LLMError):
    """Raised in mode ``replay`` if the store has no answer to a request."""


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
