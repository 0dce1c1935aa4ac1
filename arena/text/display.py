"""Text on pages, pictures and terminals: the part that can be shown, and its columns."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_ESCAPES = re.compile(
    rb"(?is)\\(?:ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(ud[89a-f][0-9a-f]{2})|.)"
)
_JOINERS = "\u200c\u200d"  # without them Persian and the scripts of India fall apart
_LONGEST = 2_000  # characters of a value on a page
_PAPERS = 10  # of a list that people read


def printable(text: str, limit: int | None = None) -> str:
    """Return `text` on one line, without what moves a cursor or turns the direction of text.

    Text of papers is data: an escape sequence in a title must not reach the terminal.

    Args:
        text: The text.
        limit: Most characters; an ellipsis marks a cut.
    """
    if not text.isprintable():
        kept = (c for c in text if c.isprintable() or c.isspace() or c in _JOINERS)
        text = "".join(" " if c.isspace() else c for c in kept)
    return text if limit is None or len(text) <= limit else text[: limit - 1] + "…"


def shown(value: object, limit: int | None = None) -> str:
    """Return a text as `printable`, with its white space collapsed, for pictures and pages."""
    return printable(" ".join(printable(str(value)).split()), limit)


def plural(noun: str) -> str:
    """Return the regular plural of an English noun, which may end a phrase.

    >>> plural("lattice"), plural("canopy"), plural("mesh"), plural("survey task")
    ('lattices', 'canopies', 'meshes', 'survey tasks')
    """
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "ch", "sh")) else "s")


def count(number: int, one: str, several: str = "") -> str:
    """Return a number with its noun: `one` after 1, else `several`, by default its plural.

    >>> count(1, "paper"), count(2000, "query"), count(0, "paper is", "papers are")
    ('1 paper', '2,000 queries', '0 papers are')
    """
    return f"1 {one}" if number == 1 else f"{number:,} {several or plural(one)}"


def page_templates(*folders: Path) -> Any:
    """Return Jinja's environment of the page templates in `folders`; it escapes every value.

    They may call `count`.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        autoescape=True,
        loader=FileSystemLoader(folders),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: value if isinstance(value, Markup) else shown(value, _LONGEST),
    )
    environment.globals["count"] = count
    return environment


def result_lines(result: Mapping[str, Any], limit: int) -> list[str]:
    """Return a tool's result as lines, one for each entry, in `limit` characters, and paper."""
    lines = []
    for name, value in result.items():
        if name == "lists":  # of a search of several queries
            for each in value:
                lines += result_lines(each, limit)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            lines.append(f"{name}:")
            lines += [
                printable(f"  {paper['date']}  {paper['id']}  {paper['title']}", 120)
                for paper in value[:_PAPERS]
            ]
            if len(value) > _PAPERS:
                lines.append(f"  and {len(value) - _PAPERS} more")
        else:
            lines.append(printable(f"{name}: {value}", limit))
    return lines


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(0 if is_mark(c) else 2 if is_wide(c) else 1 for c in text)


def is_wide(character: str) -> bool:
    """Return whether a character takes two columns, as those of Chinese and Japanese do."""
    return unicodedata.east_asian_width(character) in "WF"


def is_mark(character: str) -> bool:
    """Return whether a character stands on the one before it, or joins it to the next."""
    return character in _JOINERS or unicodedata.category(character) in ("Mn", "Me")


def replace_surrogates(text: str) -> str:
    """Return a text with U+FFFD for halves of surrogate pairs, which no file takes."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def whole_letters(text: bytes) -> bytes:
    """Return JSON text with U+FFFD for escaped halves of surrogate pairs, in as many bytes.

    A model that is cut in the middle of an emoji writes one, and strict readers refuse it.
    """
    return _ESCAPES.sub(lambda match: rb"\ufffd" if match[1] else match[0], text)
