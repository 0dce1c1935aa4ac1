"""Inputs by name: what an episode shows of a paper, from the abstract alone to a model's digest.

They are those of TaxoBench, section 4. To add an input, add a module to this package, or name an
function of your own file as ``FILE.py:NAME``; its prompt, ``prompts/NAME.txt``, has the fields
``$title`` and ``$text``:

    @paper_text("method", heading="Abstract and method")
    def method(text: str) -> list[str]:
        '''Title, abstract, method.'''
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from arena.llm import ParseError, as_json
from arena.plugins import Registry, mirror
from arena.text.display import count

Read = TypeVar("Read", bound=Callable[[str], list[str]])
_MOST, _LONGEST = 10, 600  # items of a digest, characters of each part: the prompts ask for less
_LONGEST_TASK = 30  # words of a core task; the prompt asks for 5 to 15


@dataclass(frozen=True)
class PaperText:
    """The text of a paper in an episode: title and abstract, and a model's digest of the paper.

    Attributes:
        heading: Heading under which `read` shows abstract and digest.
        read: Function from the model's answer to the lines of the digest, which raises `ParseError`
            if it cannot read it; the model is then asked once more. Its docstring describes the
            input.
        prompts: Folder of the prompt, which is called like the input; None for no digest.
    """

    heading: str
    read: Callable[[str], list[str]]
    prompts: Path | None

    def __post_init__(self) -> None:
        mirror(self, self.read)


PAPER_TEXTS: Registry[PaperText] = Registry(
    "paper_text", packages=["arena.paper_texts"], base=PaperText
)
_PROMPTS = Path(__file__).parent / "prompts"


def paper_text(
    name: str, *, heading: str, prompts: Path | None = _PROMPTS
) -> Callable[[Read], Read]:
    """Return a decorator that registers a function as the `read` of an `PaperText`."""

    def register(read: Read) -> Read:
        PAPER_TEXTS.register(name)(PaperText(heading, read, prompts))
        return read

    return register


def read_items(answer: Any, types: Sequence[str]) -> list[str]:
    """Return a line ``Type: name. Description.`` for each item of an answer, at most 10.

    The answer is ``{"contributions": [{"type", "name", "description"}, ...]}``, or the list. An
    item without a type is of the last of `types`; one of another type is left out.

    >>> read_items([{"type": "method", "name": "LDA", "description": "A model."}], ["method"])
    ['Method: LDA. A model.']
    """
    items = answer.get("contributions") if isinstance(answer, dict) else answer
    if not isinstance(items, list):
        raise ParseError('There is no object {"contributions": [...]} in it.')
    lines = []
    for item in (item for item in items if isinstance(item, dict)):
        kind = str(item.get("type") or types[-1]).strip().lower()
        parts = (str(item.get(key) or "").split() for key in ("name", "description"))
        texts = [" ".join(words)[:_LONGEST].rstrip(".") for words in parts if words]
        if kind in types and texts:
            lines.append(f"{kind.capitalize()}: {'. '.join(texts)}.")
    return lines[:_MOST]


@paper_text("title_abstract", heading="Abstract", prompts=None)
def title_abstract(text: str) -> list[str]:
    """Title and abstract; needs no digest."""
    return []


_TYPES = ("problem", "motivation", "method", "conclusion", "contribution")  # TaxoBench, figure 11


@paper_text("summary", heading="Abstract and summary")
def read_summary(text: str) -> list[str]:
    """Title, abstract and a summary: problem, motivation, methods, conclusions, contributions.

    Return the lines of a summary; raise `ParseError` if there is none.
    """
    lines = read_items(as_json(text), _TYPES)
    if not lines:
        raise ParseError(f"No item has a type of {', '.join(_TYPES)} and a description.")
    return lines


@paper_text("contributions", heading="Abstract, core task and contributions")
def read_contributions(text: str) -> list[str]:
    """Title, abstract, core task and up to three contributions.

    Return the lines of core task and contributions, of which a paper may claim none.

    The prompt is that of TaxoBench, figures 12 and 13.

    >>> read_contributions('{"core_task": "ranking passages", "contributions": []}')
    ['Core task: ranking passages.']
    """
    answer = as_json(text)
    words = str((isinstance(answer, dict) and answer.get("core_task")) or "").split()
    if not 0 < len(words) <= _LONGEST_TASK:
        raise ParseError(
            f'"core_task" has {count(len(words), "word")}. Give one phrase of 5 to 15.'
        )
    task = " ".join(words).rstrip(".")
    return [f"Core task: {task}.", *read_items(answer, ["contribution"])]
