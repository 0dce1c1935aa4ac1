"""Nodes of mind-maps against their depth (paper, figure 4d)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from arena.results.plots import px
from corpus_builder.card._complexity import Complexity, Line
from corpus_builder.card._svg import WIDTH, line, picture, text, ticks, write
from corpus_builder.card._words import number

_LEFT, _RIGHT, _TOP, _BOTTOM = 80.0, WIDTH - 30.0, 40.0, 320.0
_ONE, _LEAST, _MOST = 3.5, 2.0, 12.0  # radius of a dot: of one mind-map, and its limits
_CELL = 3  # pixels; dots nearer than this are one


def draw_complexity(found: Complexity, label: str) -> str:
    """Return the picture: a dot where mind-maps are, larger for more of them, and the line."""
    depths = ticks(max(depth for depth, _ in found.points) + 1, 12)
    nodes = ticks(max(n for _, n in found.points))
    deepest, most = max(depths[-1], 1), max(nodes[-1], 1)

    def x(depth: float) -> float:
        return _LEFT + depth / deepest * (_RIGHT - _LEFT)

    def y(n: float) -> float:
        return _BOTTOM - n / most * (_BOTTOM - _TOP)

    body = []
    for value in nodes:
        body += [
            line("grid", _LEFT, y(value), _RIGHT, y(value)),
            write(_LEFT - 8, y(value) + 4, number(value), "end", "soft"),
        ]
    body += [write(x(value), _BOTTOM + 18, number(value), "middle", "soft") for value in depths]
    body += [
        line("axis", _LEFT, _BOTTOM, _RIGHT, _BOTTOM),
        line("axis", _LEFT, _TOP, _LEFT, _BOTTOM),
        write((_LEFT + _RIGHT) / 2, _BOTTOM + 38, "depth: levels of headings", "middle", "soft"),
        f'<text class="soft" x="18" y="{px((_TOP + _BOTTOM) / 2)}" text-anchor="middle" '
        f'transform="rotate(-90 18 {px((_TOP + _BOTTOM) / 2)})">nodes: headings</text>',
    ]
    cells: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for (depth, n), maps in found.points.items():
        cell = (round(x(depth) / _CELL), round(y(n) / _CELL))
        cells.setdefault(cell, []).append((maps, depth, n))
    largest = max(sum(maps for maps, _, _ in dots) for dots in cells.values())
    scale = min(1.0, _MOST / (_ONE * math.sqrt(largest)))  # areas are as the numbers
    for dots in cells.values():
        maps = sum(dot[0] for dot in dots)
        _, depth, n = max(dots)
        radius = max(_LEAST, _ONE * scale * math.sqrt(maps))
        about = "" if len(dots) == 1 else " and nearby"
        told = f"depth {number(depth)}, {number(n)} nodes{about}: {number(maps)}"
        body.append(
            f'<circle class="dot c0" cx="{px(x(depth))}" cy="{px(y(n))}" r="{px(radius)}">'
            f"<title>{text(told)}</title></circle>"
        )
    if found.line is not None:
        (x1, y1), (x2, y2) = _ends(found, found.line, most)
        fitted = line("curve", x(float(x1)), y(float(y1)), x(float(x2)), y(float(y2)))
        body.append(f'<g class="c1">{fitted}</g>')
        body.append(write(_LEFT, _TOP - 18, equation(found.line)))
    return picture(_BOTTOM + 50, label, body)


def equation(found: Line) -> str:
    """Return ``nodes = 2.04 × depth + 3.10``."""
    slope, intercept = float(found.slope), float(found.intercept)
    sign = "−" if intercept < 0 else "+"
    told = f"{slope:.2f}".replace("-", "−")
    return f"nodes = {told} × depth {sign} {abs(intercept):.2f}"


def _ends(found: Complexity, fitted: Line, most: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield where the line begins and ends: over the depths there are, inside the picture."""
    depths = [depth for depth, _ in found.points]
    for depth in (min(depths), max(depths)):
        nodes = fitted.slope * depth + fitted.intercept
        inside = min(max(nodes, Fraction(0)), Fraction(most))
        if inside != nodes:  # the slope is not 0: a level line lies inside
            yield (inside - fitted.intercept) / fitted.slope, inside
        else:
            yield Fraction(depth), nodes
