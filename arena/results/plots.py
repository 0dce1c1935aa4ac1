"""Small SVG plots: grids, curves, bars and the marks of runs; every text is escaped.

The comparison's page and the dataset card draw with this module. Colours and widths of lines are
classes; the style sheet of the page, or of the picture, defines them.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from markupsafe import Markup

from arena.text.display import FAMILY, shown, width

COLOURS = 6
"""Number of colours, and of shapes, before they repeat; the marks of runs stay different."""
SIZE = 13
"""Size of the font in pixels that `Plot.text` fits text with."""
# The colours of the page of `arena compare`: Okabe and Ito (2008), some lighter on dark ground.
# `color` and not a variable: what draws SVG besides browsers knows no variables.
STYLE = f"""
text {{ font: {SIZE}px {FAMILY}; fill: #1b2430; }}
.tick {{ fill: #5b6675; }}
.paper {{ fill: #ffffff; }}
.grid {{ stroke: #d9dde3; }} .axis {{ stroke: #5b6675; }}
.c0 {{ color: #0072b2; }} .c1 {{ color: #d55e00; }} .c2 {{ color: #009e73; }}
.c3 {{ color: #cc79a7; }} .c4 {{ color: #56b4e9; }} .c5 {{ color: #e69f00; }}
.ink {{ color: #1b2430; }} .rest {{ color: #8a94a3; }}
.bar, .dot {{ fill: currentColor; }} .dot {{ fill-opacity: .5; stroke: currentColor; }}
.mark {{ fill: currentColor; stroke: #ffffff; stroke-width: 1.2; }}
.mark.open {{ fill: #ffffff; stroke: currentColor; stroke-width: 2; }}
.count {{ font-weight: bold; text-anchor: middle; fill: currentColor; }}
.trend {{ fill: none; stroke: #5b6675; stroke-width: 1.5; stroke-dasharray: 6 4; }}
.curve {{ fill: none; stroke: currentColor; stroke-width: 2; }} .wide {{ stroke-width: 3.5; }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e6e9ee; }} .tick {{ fill: #a2acb9; }} .paper {{ fill: #14181e; }}
.grid {{ stroke: #38414d; }} .axis {{ stroke: #a2acb9; }}
.c0 {{ color: #2f7fc1; }} .c1 {{ color: #ee7b2a; }} .c4 {{ color: #a5dcfa; }}
.ink {{ color: #e6e9ee; }} .rest {{ color: #7d8896; }}
.mark {{ stroke: #14181e; }} .mark.open {{ fill: #14181e; stroke: currentColor; }}
.trend {{ stroke: #a2acb9; }}
}}
"""
"""Style sheet of a picture in a file of its own."""
_DASHES = 3
_HALF = 7  # of the box that a mark fits in
_LONGEST = 200

# Degrees from the top: a circle, a square, triangles, a rhombus, a pentagon.
_SHAPES = (
    (), (45, 135, 225, 315), (0, 120, 240), (0, 90, 180, 270), (60, 180, 300),
    (0, 72, 144, 216, 288),
)  # fmt: skip


def clean(value: object, limit: int) -> str:
    """Return `value` on one line of at most `limit` characters, as text that shows what it is.

    Control characters, halves of surrogate pairs and marks that turn the direction of text are
    left out.
    """
    text = shown(str(value))
    return text if len(text) <= limit else text[: limit - 1] + "…"


def escaped(value: object, limit: int = _LONGEST) -> str:
    """Return `value` as text that no reader of HTML or SVG takes for anything else."""
    return html.escape(clean(value, limit), quote=True)


def px(value: float) -> str:
    """Return a length with at most one decimal."""
    return f"{value:.1f}".removesuffix(".0")


def ticks(low: float, high: float, most: int = 6, whole: bool = False) -> list[float]:
    """Return round numbers from at most `low` to at least `high`, with at most `most` steps.

    Args:
        low: Where the values begin.
        high: Where they end.
        most: The most steps between the numbers.
        whole: Whether the numbers must be integers.
    """
    if high - low < 1e-9:
        high = low + 1.0
    rough = (high - low) / most
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= rough - 1e-12)
    step = max(1, round(step)) if whole else step
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def mark(place: int, x: float, y: float) -> str:
    """Return the mark of run number `place` around (x, y), for inside an SVG.

    Six filled shapes, the same six outlined, and then the number of the run, from 13 on: no two
    runs have the same mark, so that they can be distinguished without colours.
    """
    turn = place // COLOURS
    if turn > 1:
        return f'<text class="count" x="{px(x)}" y="{px(y + 4)}">{place + 1}</text>'
    kind = "mark open" if turn else "mark"
    corners = [math.radians(angle) for angle in _SHAPES[place % COLOURS]]
    if not corners:
        return f'<circle class="{kind}" cx="{px(x)}" cy="{px(y)}" r="5"/>'
    joined = "L".join(f"{px(x + 6 * math.sin(a))} {px(y - 6 * math.cos(a))}" for a in corners)
    return f'<path class="{kind}" d="M{joined}Z"/>'


def dash(place: int) -> str:
    """Return the class of the curve of run number `place`."""
    return f"d{place // COLOURS % _DASHES}"


def key(place: int, label: str = "", line: bool = False) -> Markup:
    """Return the mark of a run as a picture among words.

    Args:
        place: Number of the run.
        label: Its name, where no text beside the mark has it.
        line: Whether to draw the mark on a piece of its curve.
    """
    half = 2 * _HALF if line else _HALF
    role = f'role="img" aria-label="{escaped(label)}"' if label else 'aria-hidden="true"'
    piece = f'<path class="curve {dash(place)}" d="M0 {_HALF}H{2 * half}"/>' if line else ""
    return Markup(
        f'<svg class="{"key long" if line else "key"}" viewBox="0 0 {2 * half} {2 * _HALF}" '
        f"{role}>{piece}{mark(place, half, _HALF)}</svg>"
    )


class Plot:
    """A plot with axes, drawn piece by piece.

    Args:
        left: Pixel where the smallest x is drawn.
        right: Pixel where the largest x is drawn.
        top: Pixel where the largest y is drawn.
        bottom: Pixel where the smallest y is drawn.
        x_ticks: Values from the left end to the right end.
        y_ticks: Values from the lower end to the upper end.
    """

    def __init__(
        self,
        left: float,
        right: float,
        top: float,
        bottom: float,
        x_ticks: Sequence[float] = (0, 1),
        y_ticks: Sequence[float] = (0, 1),
    ) -> None:
        self.left, self.right, self.top, self.bottom = left, right, top, bottom
        self._x_ticks, self._y_ticks = x_ticks, y_ticks
        self._parts: list[str] = []

    def x(self, value: float) -> float:
        """Return the pixel of an x."""
        low, high = self._x_ticks[0], self._x_ticks[-1]
        return self.left + (value - low) / (high - low) * (self.right - self.left)

    def y(self, value: float) -> float:
        """Return the pixel of a y."""
        low, high = self._y_ticks[0], self._y_ticks[-1]
        return self.bottom - (value - low) / (high - low) * (self.bottom - self.top)

    def y_axis(self, write: Callable[[float], str]) -> None:
        """Draw a horizontal line at each tick, and `write` its value on the left."""
        for value in self._y_ticks:
            self.line("grid", self.left, self.y(value), self.right, self.y(value))
            self.text(self.left - 8, self.y(value) + 4, write(value), "end", "tick")

    def x_axis(self, values: Iterable[float], write: Callable[[float], str]) -> None:
        """`write` values below the plot."""
        for value in values:
            self.text(self.x(value), self.bottom + 18, write(value), "middle", "tick")

    def titles(self, x: str, y: str = "") -> None:
        """Write what the axes show, below the numbers and, turned, at the left edge."""
        middle = (self.left + self.right) / 2
        self.text(middle, self.bottom + (38 if y else 36), x, "middle", "tick")
        if y:
            at = px((self.top + self.bottom) / 2)
            turned = f'transform="rotate(-90 18 {at})">{escaped(y)}</text>'
            self._parts.append(f'<text class="tick" x="18" y="{at}" text-anchor="middle" {turned}')

    def line(self, kind: str, x1: float, y1: float, x2: float, y2: float, title: str = "") -> None:
        """Draw a straight line."""
        self.path(kind, [(x1, y1), (x2, y2)], title)

    def path(self, kind: str, points: Iterable[tuple[float, float]], title: str = "") -> None:
        """Draw a line through `points`, which are pixels."""
        joined = "L".join(f"{px(x)} {px(y)}" for x, y in points)
        self._parts.append(f'<path class="{kind}" d="M{joined}">{_title(title)}</path>')

    def text(
        self, x: float, y: float, value: str, anchor: str = "start", kind: str = "",
        room: float | None = None, title: str = "",
    ) -> None:  # fmt: skip
        """Write a line of text.

        Args:
            x: Pixel of its `anchor`.
            y: Pixel of its base line.
            value: The text.
            anchor: ``start``, ``middle`` or ``end``.
            kind: Its class.
            room: Pixels that it must fit in; the rest is cut. Viewers have other fonts, so the
                text is fitted into its width.
            title: What a pointer on the text shows; the whole of a text that is cut.
        """
        whole, fitted = shown(value), ""
        short = whole[:_LONGEST]
        if room is not None:
            if width(whole, SIZE) > room:
                while short and width(short + "…", SIZE) > room:
                    short = short[:-1]
                short += "…"
            fitted = f' textLength="{px(width(short, SIZE))}" lengthAdjust="spacingAndGlyphs"'
        title = title or (whole if short != whole else "")
        named = f' class="{kind}"' if kind else ""
        self._parts.append(
            f'<text{named} x="{px(x)}" y="{px(y)}" text-anchor="{anchor}"'
            f"{fitted if short else ''}>{escaped(short)}{_title(title)}</text>"
        )

    def bar(
        self, kind: str, x: float, y: float, wide: float, high: float, title: str, link: str = ""
    ) -> None:
        """Draw a rectangle that is never invisible; `link` is the anchor that a click opens."""
        drawn = (
            f'<rect class="{kind}" x="{px(x)}" y="{px(y)}" width="{px(wide)}" '
            f'height="{px(max(high, 1))}">{_title(title)}</rect>'
        )
        self._parts.append(f'<a href="#{escaped(link)}">{drawn}</a>' if link else drawn)

    def dot(self, kind: str, x: float, y: float, radius: float, title: str) -> None:
        """Draw a circle."""
        self._parts.append(
            f'<circle class="{kind}" cx="{px(x)}" cy="{px(y)}" r="{px(radius)}">'
            f"{_title(title)}</circle>"
        )

    def mark(self, place: int, x: float, y: float, scale: float = 1.0) -> None:
        """Draw the mark of run number `place`, `scale` times as large as usual."""
        if scale == 1.0:
            self._parts.append(mark(place, x, y))
        else:
            move = f"translate({px(x)} {px(y)}) scale({scale:.3f})"
            self._parts.append(f'<g transform="{move}">{mark(place, 0, 0)}</g>')

    @contextmanager
    def group(self, kind: str, title: str = "") -> Iterator[None]:
        """Put what is drawn in the block into one group."""
        self._parts.append(f'<g class="{kind}">{_title(title)}')
        yield
        self._parts.append("</g>")

    def inside(self, wide: float, high: float, label: str) -> Markup:
        """Return the plot as an element of a page; `label` says what it shows."""
        return Markup(
            f'<svg class="plot" viewBox="0 0 {px(wide)} {px(high)}" role="img" '
            f'aria-label="{escaped(label)}">{"".join(self._parts)}</svg>'
        )

    def file(self, wide: float, high: float, label: str, style: str) -> str:
        """Return the plot as a whole SVG file; `label` says what it shows."""
        size = f'width="{px(wide)}" height="{px(high)}"'
        about = escaped(label, 10 * _LONGEST)
        lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {px(wide)} {px(high)}" '
            f'role="img" aria-label="{about}">',
            f"<title>{about}</title>",
            f"<style>{style}</style>",
            f'<rect class="paper" {size}/>',
            *self._parts,
            "</svg>",
        ]
        return "\n".join(lines) + "\n"


def _title(value: Any) -> str:
    return f"<title>{escaped(value, 10 * _LONGEST)}</title>" if value else ""
