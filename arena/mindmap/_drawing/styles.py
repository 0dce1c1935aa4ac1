"""How the kinds of nodes look: sizes in pixels, colours as numbers."""

from __future__ import annotations

from typing import NamedTuple

LINE = 1.28  # height of a line, in font sizes
INK, PAPER = "#1b2430", "#ffffff"

# The palette of Okabe and Ito (2008), told apart with any kind of colour blindness; without its
# yellow, a line of which does not show on white.
BRANCHES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")


class Style(NamedTuple):
    """One kind of node.

    Attributes:
        size: of the font.
        bold: at weight 600.
        room: the widest line.
        lines: the most lines.
        across: space between text and edge, left and right.
        along: the same above and below.
    """

    size: float
    bold: bool
    room: float
    lines: int
    across: float
    along: float


ROOT = Style(18, True, 260, 5, 18, 11)
BRANCH = Style(14, True, 190, 3, 11, 6)
INNER = Style(12.5, False, 200, 3, 8, 3.5)
LEAF = Style(12.5, False, 250, 3, 4, 1)


def style_of(level: int, is_leaf: bool) -> Style:
    """Return the style of a node `level` steps below the root."""
    if level < 2:
        return (ROOT, BRANCH)[level]
    return LEAF if is_leaf else INNER


def mixed(colour: str, share: float) -> str:
    """Return `colour` thinned with white; `share` is what is left of it."""
    return "#" + "".join(f"{round(255 + (c - 255) * share):02x}" for c in _channels(colour))


def readable_on(colour: str) -> str:
    """Return black or white, whichever has the higher contrast (WCAG 2.2) to `colour`."""
    red, green, blue = (_linear(c / 255) for c in _channels(colour))
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return PAPER if 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05 else "#000000"


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else float(((channel + 0.055) / 1.055) ** 2.4)
