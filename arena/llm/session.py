"""An episode's share of a client, and answers in a form: asked again once, then a failed step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from arena.llm.answers import Completion, Message
from arena.llm.client import Client, Model
from arena.llm.errors import LimitReachedError, ParseError
from arena.llm.meter import Limits, Meter

T = TypeVar("T")
_QUOTED = 2000  # characters of an unreadable answer that the reminder quotes


class Session(Model):
    """Counts every answer of an episode, from the server or from the store.

    So an episode that is replayed has the same counts, reaches the same limit at the same call,
    and has the same notes.

    Args:
        client: The client that asks.
        limits: Limits of this episode. They are checked before a request, or before a batch: a
            batch that does not fit under ``max_calls`` is not begun.

    Attributes:
        meter: Sums over the answers.
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
            LimitReachedError: if a limit is reached; nothing is asked then.
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
        """Note a step that failed."""
        self._failures.append({"request": key, "reason": reason[:200]})

    def notes(self) -> dict[str, Any]:
        """Return the notes for a trajectory, without times and without the source of answers.

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


@dataclass(frozen=True)
class Failed:
    """The result of a step that failed; false, so that ``if not queries`` sees it.

    Attributes:
        reason: Reason in a sentence.
        text: Last answer of the model.
    """

    reason: str
    text: str = ""

    def __bool__(self) -> Literal[False]:
        return False


def ask(
    model: Model, messages: Sequence[Message], parse: Callable[[str], T], **options: Any
) -> T | Failed:
    """Return what `parse` reads in the model's answer; ask again once if it raises `ParseError`.

    Args:
        model: A `Client`, or the `Session` of an episode, which notes failed steps.
        messages: The request.
        parse: Function from the text of the answer to a value, such as `as_list`.
        options: Fields of the request, as in `Model.complete`.

    Returns:
        The value; `Failed` if the second answer cannot be read either, or the server refuses the
        request.

    Raises:
        LimitReachedError: if a limit of the episode is reached before the first answer.
        LLMError: if the model could not be asked.
    """
    return ask_many(model, [messages], parse, **options)[0]


def ask_many(
    model: Model, many: Sequence[Sequence[Message]], parse: Callable[[str], T], **options: Any
) -> list[T | Failed]:
    """Return for each request what `ask` returns; the requests are made side by side."""
    conversations = [list(messages) for messages in many]
    results: list[T | Failed] = [Failed("not asked")] * len(many)
    keys = [""] * len(many)
    unread = list(range(len(many)))
    for first in (True, False):
        try:
            answers = model.answers([conversations[place] for place in unread], **options)
        except LimitReachedError:
            if first:
                raise
            break  # the first answers count; the agent meets the limit at its next request
        asked, unread = unread, []
        for place, answer in zip(asked, answers, strict=True):
            keys[place] = answer.key
            try:
                results[place] = (
                    Failed(f"the server refused the request: {answer.refused}")
                    if answer.refused
                    else parse(answer.text)
                )
            except ParseError as error:
                results[place] = Failed(str(error), answer.text)
                reminder = (
                    f"Your answer could not be read: {error} Answer again, in the form that was "
                    "asked for and with nothing else."
                )
                conversations[place] += [
                    {"role": "assistant", "content": answer.text[:_QUOTED] or "(nothing)"},
                    {"role": "user", "content": reminder},
                ]
                unread.append(place)
        if not unread:
            break
    for result, key in zip(results, keys, strict=True):
        if isinstance(result, Failed):
            model.failed(result.reason, key)
    return results
