"""What an input is, inputs by name, and the reader of the lists that models answer with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from arena.llm import ParseError
from arena.registry import Registry

_MOST, _LONGEST = 10, 600  # items of a digest, characters of each part: the prompts ask for less


class Input(NamedTuple):
    """What an episode shows of a paper: title and abstract, and a model's digest of the paper.

    Attributes:
        description: One line for ``arena list inputs``.
        heading: Heading under which `read` shows abstract and digest.
        read: Function from the model's answer to the lines of the digest, which raises `ParseError`
            if it cannot read it; the model is then asked once more. None for no digest.
        prompts: Folder of the prompt, which is called like the input.
    """

    description: str
    heading: str
    read: Callable[[str], list[str]] | None = None
    prompts: Path = Path(__file__).parent / "prompts"


INPUTS: Registry[Input] = Registry(
    "input", packages=["arena.inputs"], entry_points="researcharena.inputs", base=Input
)


def read_items(answer: Any, types: Sequence[str]) -> list[str]:
    """Return a line ``Type: name. Description.`` for each item of an answer, at most 10.

    Args:
        answer: JSON ``{"contributions": [{"type", "name", "description"}, ...]}``, or the list.
        types: Known types; an item without a type is of the last one.

    Raises:
        ParseError: There is no such list.

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
