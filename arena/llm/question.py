"""A question to a model: a prompt, a reader of its answer, and one repetition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from arena.counted import reading
from arena.errors import UnreadableError
from arena.llm.answers import LimitReachedError, Message, ParseError
from arena.llm.client import Model
from arena.llm.prompts import Template

T = TypeVar("T")
_QUOTED = 2000  # characters of an unreadable answer that the reminder quotes


@dataclass(frozen=True)
class Failure:
    """The result of a step that failed, with the model's last answer; false in a condition."""

    reason: str
    text: str = ""

    def __bool__(self) -> Literal[False]:
        return False


def ask(
    model: Model, messages: Sequence[Message], parse: Callable[[str], T], **options: Any
) -> T | Failure:
    """Return what `parse` reads in the model's answer; ask again once if it raises `ParseError`.

    `Failure` if the second answer cannot be read either, or the server refuses the request. The
    `ModelSession` of an episode notes failed steps, and each answer under the option ``step``. The
    other options and errors are those of `Model.complete`.
    """
    return ask_many(model, [messages], parse, **options)[0]


def ask_many(
    model: Model, many: Sequence[Sequence[Message]], parse: Callable[[str], T], **options: Any
) -> list[T | Failure]:
    """Return for each request what `ask` returns; the requests are made side by side."""
    conversations, step = [list(messages) for messages in many], options.pop("step", "")
    results: list[T | Failure] = [Failure("not asked")] * len(many)
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
                with reading():
                    results[place] = (
                        Failure(f"the server refused the request: {answer.refused}")
                        if answer.refused
                        else parse(answer.text)
                    )
            except (ParseError, UnreadableError) as error:
                results[place] = Failure(str(error), answer.text)
                reminder = (
                    f"Your answer could not be read: {error} Answer again, in the form that was "
                    "asked for and with nothing else."
                )
                conversations[place] += [
                    {"role": "assistant", "content": answer.text[:_QUOTED] or "(nothing)"},
                    {"role": "user", "content": reminder},
                ]
                unread.append(place)
            result = results[place]
            model.note(answer, step, result.reason if isinstance(result, Failure) else "")
        if not unread:
            break
    for result, key in zip(results, keys, strict=True):
        if isinstance(result, Failure):
            model.failed(result.reason, key)
    return results


@dataclass(frozen=True)
class Question(Generic[T]):
    """A question to a model, whose answer has a form.

    Attributes:
        template: The prompt.
        read: Function from the text of an answer to a value; it raises `ParseError` if it cannot
            read it, and the model is asked once more.
    """

    template: Template
    read: Callable[[str], T]

    def ask(
        self, model: Model, many: Iterable[Mapping[str, str | int]], **options: Any
    ) -> list[T | Failure]:
        """Return what `ask_many` returns for each of many values of the template's fields."""
        messages = [self.template.messages(**values) for values in many]
        return ask_many(model, messages, self.read, step=Path(self.template.name).stem, **options)
