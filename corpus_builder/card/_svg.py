"""Pieces of a picture that stands alone: readable on a light page and on a dark one."""

from __future__ import annotations

import html
from collections.abc import Sequence

from arena.results.plots import px
from arena.text.display import FAMILY, shown, width

WIDTH = 720
SIZE = 13  # of the font
_LONGEST = 200  # letters of a name that a picture holds, also where it shows fewer

# The colours of the page of `arena compare`: Okabe and Ito (2008), some lighter on dark ground.
# `color` and not a variable: what draws SVG besides browsers knows no variables.
_STYLE = f"""
text {{ font: {SIZE}px {FAMILY}; fill: #1b2430; }}
.soft {{ fill: #5b6675; }}
.paper {{ fill: #ffffff; }}
.grid {{ stroke: #d9dde3; }} .axis {{ stroke: #5b6675; }}
.c0 {{ color: #0072b2; }} .c1 {{ color: #d55e00; }} .c2 {{ color: #009e73; }}
.c3 {{ color: #cc79a7; }} .c4 {{ color: #56b4e9; }} .c5 {{ color: #e69f00; }}
.ink {{ color: #1b2430; }} .rest {{ color: #8a94a3; }}
.bar, .dot {{ fill: currentColor; }} .dot {{ fill-opacity: .5; stroke: currentColor; }}
.mark {{ fill: currentColor; stroke: #ffffff; stroke-width: 1.2; }}
.curve {{ fill: none; stroke: currentColor; stroke-width: 2; }} .wide {{ stroke-width: 3.5; }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e6e9ee; }} .soft {{ fill: #a2acb9; }} .paper {{ fill: #14181e; }}
.grid {{ stroke: #38414d; }} .axis {{ stroke: #a2acb9; }}
.c0 {{ color: #2f7fc1; }} .c1 {{ color: #ee7b2a; }} .c4 {{ color: #a5dcfa; }}
.ink {{ color: #e6e9ee; }} .rest {{ color: #7d8896; }}
.mark {{ stroke: #14181e; }}
}}
"""


def picture(height: float, label: str, body: Sequence[str]) -> str:
    """Return a whole SVG file.

    Args:
        height: in pixels; it is `WIDTH` wide.
        label: what is to be seen, for those who do not see it.
        body: pieces of SVG.
    """
    told = text(label, 10 * _LONGEST)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{px(height)}" '
        f'viewBox="0 0 {WIDTH} {px(height)}" role="img" aria-label="{told}">',
        f"<title>{told}</title>",
        f"<style>{_STYLE}</style>",
        f'<rect class="paper" width="{WIDTH}" height="{px(height)}"/>',
        *body,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def text(value: str, limit: int = _LONGEST) -> str:
    """Return `value` as text that no reader of SVG takes for anything else."""
    clean = shown(value)
    return html.escape(clean if len(clean) <= limit else clean[: limit - 1] + "…", quote=True)


def write(
    x: float, y: float, value: str, anchor: str = "start", kind: str = "", room: float | None = None
) -> str:
    """Return a line of text; what does not fit into `room` pixels is cut, and told on hovering."""
    short = shown(value)
    if room is not None and width(short, SIZE) > room:
        short = short[:_LONGEST]
        while short and width(short + "…", SIZE) > room:
            short = short[:-1]
        short += "…"
    fitted = ""  # viewers have other fonts; none may draw beyond the room
    if room is not None and short:
        fitted = f' textLength="{px(width(short, SIZE))}" lengthAdjust="spacingAndGlyphs"'
    title = f"<title>{text(value)}</title>" if short != shown(value) else ""
    named = f' class="{kind}"' if kind else ""
    return (
        f'<text{named} x="{px(x)}" y="{px(y)}" text-anchor="{anchor}"{fitted}>'
        f"{text(short)}{title}</text>"
    )


def line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    """Return a straight line."""
    return f'<path class="{kind}" d="M{px(x1)} {px(y1)}L{px(x2)} {px(y2)}"/>'


def bar(kind: str, x: float, y: float, wide: float, high: float, told: str) -> str:
    """Return a rectangle of a chart; one of something is never invisible."""
    return (
        f'<rect class="bar {kind}" x="{px(x)}" y="{px(y)}" width="{px(max(wide, 1))}" '
        f'height="{px(max(high, 1))}"><title>{text(told)}</title></rect>'
    )


def ticks(top: int, most: int = 6) -> list[int]:
    """Return whole round numbers from 0 to `top` or just above, `most` steps between at most."""
    step, factors = 1, (1, 2, 5)
    power = 0
    while step * most < top:
        power += 1
        step = factors[power % 3] * 10 ** (power // 3)
    return list(range(0, max(-(-top // step), 1) * step + 1, step))
