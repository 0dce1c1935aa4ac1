"""Text on pages, pictures and terminals: the part that can be shown, and its width."""

from __future__ import annotations

import functools
import unicodedata

FAMILY = "Noto Sans, Open Sans, Segoe UI, Helvetica Neue, Arial, DejaVu Sans, sans-serif"
_SEMIBOLD = 1.04  # Noto Sans at weight 600 against 400, over headings of surveys

# The advance widths of Noto Sans Regular 2.015, in thousandths of the font size, from U+0020 on.
_ASCII = (
    260, 269, 408, 646, 572, 831, 732, 225, 300, 300, 551, 572, 268, 322, 268, 372, 572, 572, 572,
    572, 572, 572, 572, 572, 572, 572, 268, 268, 572, 572, 572, 434, 899, 639, 650, 632, 730, 556,
    519, 728, 741, 339, 273, 619, 524, 907, 760, 781, 605, 781, 622, 549, 556, 731, 600, 930, 586,
    566, 572, 329, 372, 329, 572, 444, 281, 561, 615, 480, 615, 564, 344, 615, 618, 258, 258, 534,
    258, 935, 618, 605, 615, 615, 413, 479, 361, 618, 508, 786, 529, 510, 470, 380, 551, 380, 572,
)  # fmt: skip
_OTHERS = {
    "–": 500, "—": 1000, "‘": 175, "’": 175, "“": 359, "”": 359, "…": 791,
    "Ø": 781, "ø": 605, "ß": 631, "Æ": 881, "æ": 864, "Œ": 928, "œ": 946,
}  # fmt: skip
_IN_FONT = (
    " ~", "\u00a0\u0373", "\u0391\u03a1", "\u03a3\u03e1", "\u0400\u052f", "\u1e00\u1eff",
    "\u2010\u205e", "\u20a0\u20bf", "\u2100\u215f", "\u2212\u2212",
)  # fmt: skip
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


def width(text: str, size: float, bold: bool = False) -> float:
    """Return the width of a text at font size `size`, in the unit of `size`.

    It is that of Noto Sans for Latin letters and an estimate for all others; the picture makes
    every viewer fit the text into it.
    """
    units = sum(map(_advance, text))
    return units * size * (_SEMIBOLD if bold else 1.0) / 1000


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(0 if is_mark(c) else 2 if is_wide(c) else 1 for c in text)


def in_font(character: str) -> bool:
    """Return whether Noto Sans has a character: Latin, Greek, Cyrillic, common punctuation."""
    return character == "\n" or any(ends[0] <= character <= ends[1] for ends in _IN_FONT)


def is_wide(character: str) -> bool:
    """Return whether a character takes two columns, as those of Chinese and Japanese do."""
    return unicodedata.east_asian_width(character) in "WF"


def is_mark(character: str) -> bool:
    """Return whether a character stands on the one before it, or joins it to the next."""
    return character in _JOINERS or unicodedata.category(character) in ("Mn", "Me")


@functools.lru_cache(4096)
def _advance(character: str) -> int:
    if character in _OTHERS:
        return _OTHERS[character]
    if is_mark(character):
        return 0
    base = unicodedata.normalize("NFD", character)[0]
    if " " <= base <= "~":
        return _ASCII[ord(base) - 32]
    if is_wide(character):
        return 1000
    return 700 if character.isupper() else 620
