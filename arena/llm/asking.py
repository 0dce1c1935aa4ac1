"""Asking for an answer in a form, once again if it is not in it, and going on if it never is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from arena.llm._model import Model
from arena.llm._request import Message
from arena.llm.errors import LimitReachedError, ParseError

T = TypeVar("T")
QUOTED = 2000
"""Characters of a bad answer that the model is shown again."""


@dataclass(frozen=True)
class Failed:
    """What `ask` returns for a step that failed; false, so that ``if not queries`` sees it.

    Attributes:
        reason: in a sentence.
        text: what the model wrote the last time.
    """

    reason: str
    text: str = ""

    def __bool__(self) -> Literal[False]:
        return False


def ask(
    model: Model, messages: Sequence[Message], parse: Callable[[str], T], **options: Any
) -> T | Failed:
    """Return what `parse` makes of the model's answer.

    If it raises `ParseError`, the model is told so and asked once more.

    Args:
        model: a `Client`, or the `Session` of an episode, which notes failed steps.
        messages: the request.
        parse: text -> value, such as `as_list`.
        options: of the request, as in `Model.complete`.

    Returns:
        The value; or `Failed` if the second answer is no better, or the server refused the request.

    Raises:
        LimitReachedError: if a limit of the episode was reached before the first answer.
        LLMError: if the model could not be asked.
    """
    return ask_many(model, [messages], parse, **options)[0]


def ask_many(
    model: Model, many: Sequence[Sequence[Message]], parse: Callable[[str], T], **options: Any
) -> list[T | Failed]:
    """Return for each request what `ask` would; the requests are made side by side."""
    conversations = [list(messages) for messages in many]
    results: list[T | Failed] = [Failed("not asked")] * len(many)
    keys = [""] * len(many)
    open_ = list(range(len(many)))
    for first in (True, False):
        try:
            answers = model.answers([conversations[place] for place in open_], **options)
        except LimitReachedError:
            if first:
                raise
            break  # what was answered counts; the agent meets the limit at its next request
        again = []
        for place, answer in zip(open_, answers, strict=True):
            keys[place] = answer.key
            if answer.refused:
                results[place] = Failed(f"the server refused the request: {answer.refused}")
                continue
            try:
                results[place] = parse(answer.text)
            except ParseError as error:
                results[place] = Failed(str(error), answer.text)
                conversations[place] += _reminder(answer.text, str(error))
                again.append(place)
        open_ = again
        if not open_:
            break
    for place, result in enumerate(results):
        if isinstance(result, Failed):
            model.failed(result.reason, keys[place])
    return results


def _reminder(text: str, reason: str) -> list[Message]:
    return [
        {"role": "assistant", "content": text[:QUOTED] or "(nothing)"},
        {
            "role": "user",
            "content": f"Your answer could not be read: {reason} Answer again, in the form that "
            "was asked for and with nothing else.",
        },
    ]
