"""What an input is, inputs by name, and the reader of the lists that models answer with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from arena.corpus.digests import TITLE_ABSTRACT as TITLE_ABSTRACT
from arena.llm import ParseError, as_json
from arena.registry import Registry

_NAME, _DESCRIPTION = 200, 600
"""Characters; the prompts ask for 15 and 60 words."""


class Question(NamedTuple):
    """One request about a paper.

    Attributes:
        template: Name of the prompt; it has the fields ``$title`` and ``$text``.
        read: Function from the answer to the lines that it adds to the digest. Raises `ParseError`
            if it cannot read the answer; the model is then asked once more.
        schema: JSON schema of the answer, for servers that can hold a model to one; None if the
            answer is no JSON.
    """

    template: str
    read: Callable[[str], list[str]]
    schema: Mapping[str, Any] | None = None


class Input(NamedTuple):
    """What an episode shows of a paper: title and abstract, and the answers to some questions.

    Attributes:
        description: One line for ``arena list inputs``.
        heading: Heading under which `read` shows abstract and digest.
        questions: The requests that make a digest; none for no digest.
        prompts: Folder of the prompts.
    """

    description: str
    heading: str
    questions: tuple[Question, ...] = ()
    prompts: Path = Path(__file__).parent / "prompts"


INPUTS: Registry[Input] = Registry(
    "input", packages=["arena.inputs"], entry_points="researcharena.inputs", base=Input
)


def items_schema(*types: str) -> dict[str, Any]:
    """Return the JSON schema of an answer that `read_items` reads.

    Args:
        types: Types of the items; none for items without a type.
    """
    text = {"type": "string"}
    keys: dict[str, Any] = {"type": {"enum": list(types)}} if types else {}
    keys |= dict.fromkeys(("name", "author_claim_text", "description", "source_hint"), text)
    item = {"type": "object", "properties": keys, "required": list(keys)}
    items = {"type": "array", "items": item}
    return {
        "type": "object", "properties": {"contributions": items}, "required": ["contributions"]
    }  # fmt: skip


def read_items(text: str, most: Mapping[str, int], default: str = "") -> list[str]:
    """Return the items of an answer ``{"contributions": [{"type", "name", "description"}, ...]}``.

    Args:
        text: The answer; other keys of an item are not used.
        most: Known types of items, in their order -> most items of the type; further ones are left
            out.
        default: Type of an item that names none.

    Returns:
        A line ``Type: name. Description`` for each item, by type.

    Raises:
        ParseError: There is no such list.

    >>> read_items('[{"type": "method", "name": "LDA.", "description": "A topic model."}]',
    ...            {"method": 3})
    ['Method: LDA. A topic model.']
    """
    value = as_json(text)
    items = value.get("contributions") if isinstance(value, dict) else value
    if not isinstance(items, list):
        raise ParseError('There is no object {"contributions": [...]} in it.')
    lines: list[tuple[str, str]] = []
    for item in items:
        if isinstance(item, dict):
            kind = str(item.get("type") or default).strip().lower()
            name, description = (
                " ".join(str(item.get(key) or "").split())[:longest]
                for key, longest in (("name", _NAME), ("description", _DESCRIPTION))
            )
            parts = [part for part in (name.rstrip("."), description) if part]
            if kind in most and parts:
                lines.append((kind, f"{kind.capitalize()}: {'. '.join(parts)}"))
    seen: Counter[str] = Counter()
    kept = []
    for kind, line in sorted(lines, key=lambda pair: list(most).index(pair[0])):
        seen[kind] += 1
        if seen[kind] <= most[kind]:
            kept.append(line)
    return kept
