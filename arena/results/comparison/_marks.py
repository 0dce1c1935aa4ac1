"""The mark of each run: the same in plots, legends, tables and lines, and told without colours."""

from __future__ import annotations

import math
from collections.abc import Iterator

COLOURS = 6
"""Colours, and shapes, before they start again; the marks of runs go on."""
_DASHES = 3
_FILLED, _OUTLINED = 0, 1
_HALF = 7  # of the box that a mark fits in

# Degrees from the top: a circle, a square, triangles, a rhombus, a pentagon.
_SHAPES = (
    (), (45, 135, 225, 315), (0, 120, 240), (0, 90, 180, 270), (60, 180, 300),
    (0, 72, 144, 216, 288),
)  # fmt: skip


def mark(place: int, x: float, y: float) -> str:
    """Return the mark of run number `place` around (x, y), for inside an SVG.

    Six filled shapes, the same six outlined, and then the number of the run, from 13 on: no two
    runs have the same mark.
    """
    turn = place // COLOURS
    if turn > _OUTLINED:
        return f'<text class="count" x="{px(x)}" y="{px(y + 4)}">{place + 1}</text>'
    kind = "mark" if turn == _FILLED else "mark open"
    corners = list(_corners(place % len(_SHAPES), x, y))
    if not corners:
        return f'<circle class="{kind}" cx="{px(x)}" cy="{px(y)}" r="5"/>'
    joined = "L".join(f"{px(a)} {px(b)}" for a, b in corners)
    return f'<path class="{kind}" d="M{joined}Z"/>'


def dash(place: int) -> str:
    """Return the class of the curve of run number `place`."""
    return f"d{place // COLOURS % _DASHES}"


def key(place: int, label: str = "", line: bool = False) -> str:
    """Return the mark as a picture of its own among words.

    Args:
        place: number of the run.
        label: its name, escaped, where no text beside the mark has it.
        line: whether to draw it on a piece of its curve.
    """
    half = 2 * _HALF if line else _HALF
    told = f'role="img" aria-label="{label}"' if label else 'aria-hidden="true"'
    piece = f'<path class="curve {dash(place)}" d="M0 {_HALF}H{2 * half}"/>' if line else ""
    return (
        f'<svg class="{"key long" if line else "key"}" viewBox="0 0 {2 * half} {2 * _HALF}" '
        f"{told}>{piece}{mark(place, half, _HALF)}</svg>"
    )


def px(value: float) -> str:
    """Return a length with a digit behind the point at most."""
    return f"{value:.1f}".removesuffix(".0")


def _corners(shape: int, x: float, y: float) -> Iterator[tuple[float, float]]:
    for angle in _SHAPES[shape]:
        turn = math.radians(angle)
        yield x + 6 * math.sin(turn), y - 6 * math.cos(turn)
