"""Text on pages, pictures and terminals: the part that can be shown, and its columns."""

from __future__ import annotations

import unicodedata

_JOINERS = "\u200c\u200d"  # without them Persian and the scripts of India fall apart


def shown(label: str) -> str:
    """Return a label on one line, without characters that no picture, page or terminal shows.

    Control characters, halves of surrogate pairs and marks that turn the direction of what follows
    are left out, so that a label cannot reach beyond its place.
    """
    text = " ".join(label.split())
    if not text.isprintable():
        text = "".join(c for c in text if c.isprintable() or c in _JOINERS)
    return " ".join(text.split())


def shortened(value: object, limit: int) -> str:
    """Return `value` as `shown`, cut to `limit` characters; an ellipsis marks the cut."""
    text = shown(str(value))
    return text if len(text) <= limit else text[: limit - 1] + "…"


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
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
