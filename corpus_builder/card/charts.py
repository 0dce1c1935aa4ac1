"""The pictures of a card: the paper's figure 4, and papers by year."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from arena.results.plots import SIZE, Plot, dash, ticks
from arena.text.display import FAMILY, width
from corpus_builder.card.facts import PERCENTS, Complexity, Covered, Line

WIDTH = 720
_YEARS = 40  # bars of one year each; what lies before and after has one bar a side
_NAME = 44  # pixels that the name of a year needs
_ONE, _LEAST, _MOST = 3.5, 2.0, 12.0  # radius of a dot: of one mind-map, and its limits
_CELL = 3  # pixels; dots nearer than this are one

# The colours of the page of `arena compare`: Okabe and Ito (2008), some lighter on dark ground.
# `color` and not a variable: what draws SVG besides browsers knows no variables.
_STYLE = f"""
text {{ font: {SIZE}px {FAMILY}; fill: #1b2430; }}
.tick {{ fill: #5b6675; }}
.paper {{ fill: #ffffff; }}
.grid {{ stroke: #d9dde3; }} .axis {{ stroke: #5b6675; }}
.c0 {{ color: #0072b2; }} .c1 {{ color: #d55e00; }} .c2 {{ color: #009e73; }}
.c3 {{ color: #cc79a7; }} .c4 {{ color: #56b4e9; }} .c5 {{ color: #e69f00; }}
.ink {{ color: #1b2430; }} .rest {{ color: #8a94a3; }}
.bar, .dot {{ fill: currentColor; }} .dot {{ fill-opacity: .5; stroke: currentColor; }}
.mark {{ fill: currentColor; stroke: #ffffff; stroke-width: 1.2; }}
.curve {{ fill: none; stroke: currentColor; stroke-width: 2; }} .wide {{ stroke-width: 3.5; }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e6e9ee; }} .tick {{ fill: #a2acb9; }} .paper {{ fill: #14181e; }}
.grid {{ stroke: #38414d; }} .axis {{ stroke: #a2acb9; }}
.c0 {{ color: #2f7fc1; }} .c1 {{ color: #ee7b2a; }} .c4 {{ color: #a5dcfa; }}
.ink {{ color: #e6e9ee; }} .rest {{ color: #7d8896; }}
.mark {{ stroke: #14181e; }}
}}
"""


class Bar(NamedTuple):
    """One bar: its name, its number of papers, and whether it sums up what has no bar."""

    name: str
    papers: int
    is_rest: bool = False

    @property
    def kind(self) -> str:
        """The classes of its rectangle."""
        return "bar rest" if self.is_rest else "bar c0"


def draw_disciplines(bars: Sequence[Bar], shares: Sequence[str], label: str) -> str:
    """Return the picture of a distribution over disciplines (paper, figures 4a and 4b).

    Args:
        bars: The disciplines.
        shares: Text beside each bar.
        label: Description of the picture.
    """
    most, row = max(bar.papers for bar in bars), 30.0
    room = max(width(f"{most:,} (100.00 %)", SIZE), 0)
    bottom = 12 + len(bars) * row
    plot = Plot(210.0, WIDTH - room - 24, 8, bottom, x_ticks=(0, most))
    for place, (bar, share) in enumerate(zip(bars, shares, strict=True)):
        y, end = 12 + place * row, plot.x(bar.papers)
        plot.text(plot.left - 10, y + 16, bar.name, "end", room=plot.left - 20)
        wide = max(end - plot.left, 1)
        plot.bar(bar.kind, plot.left, y + 2, wide, row - 10, f"{bar.name}: {share}")
        plot.text(end + 8, y + 16, share, kind="tick")
    plot.line("axis", plot.left, 8, plot.left, bottom - 2)
    return plot.file(WIDTH, bottom + 10, label, _STYLE)


def bars_of_years(years: Mapping[int, int]) -> list[Bar]:
    """Return the bars of a histogram by year.

    They are single years, at most `_YEARS` in a row, those in which the most papers lie; of equal
    choices the latest. What is earlier or later is one bar each.
    """
    if not years:
        return []
    begin, end = min(years), max(years)
    if end - begin >= _YEARS:
        ends = sorted({*(min(year + _YEARS - 1, end) for year in years), end}, reverse=True)
        end = max(ends, key=lambda e: sum(n for y, n in years.items() if e - _YEARS < y <= e))
        begin = end - _YEARS + 1
    before = sum(n for year, n in years.items() if year < begin)
    after = sum(n for year, n in years.items() if year > end)
    return [
        *([Bar(f"before {begin}", before, True)] if before else []),
        *(Bar(str(year), years.get(year, 0)) for year in range(begin, end + 1)),
        *([Bar(f"after {end}", after, True)] if after else []),
    ]


def draw_years(bars: Sequence[Bar], label: str) -> str:
    """Return the picture of papers by year."""
    marks = ticks(0, max(bar.papers for bar in bars), 5, whole=True)
    plot = Plot(70.0, WIDTH - 20.0, 14.0, 220.0, (0, len(bars)), marks)
    plot.y_axis(lambda papers: f"{papers:,.0f}")
    step = (plot.right - plot.left) / len(bars)
    every = math.ceil(_NAME / step)
    last = max(place for place, bar in enumerate(bars) if not bar.is_rest)
    for place, bar in enumerate(bars):
        x, y = plot.x(place), plot.y(bar.papers)
        if bar.papers:
            title = f"{bar.name}: {bar.papers:,}"
            wide = max(step * 0.8, 1)
            plot.bar(bar.kind, x + step * 0.1, y, wide, plot.bottom - y, title)
        if not bar.is_rest and (last - place) % every == 0:
            plot.text(x + step / 2, plot.bottom + 18, bar.name, "middle", "tick")
    plot.line("axis", plot.left, plot.bottom, plot.right, plot.bottom)
    rest = [bar for bar in bars if bar.is_rest]
    for bar in rest:
        at, anchor = (plot.left, "start") if bar is bars[0] else (plot.right, "end")
        plot.text(at, plot.bottom + 38, f"grey: {bar.name}", anchor, "tick")
    return plot.file(WIDTH, plot.bottom + (50 if rest else 30), label, _STYLE)


def draw_coverage(groups: Sequence[Covered], names: Sequence[str], label: str) -> str:
    """Return the picture: at x % the share of surveys with at least x % of their references.

    Args:
        groups: Surveys, all of them first.
        names: Name of each group.
        label: Description of the picture.
    """
    percents = range(0, 101, 20)
    plot = Plot(70.0, WIDTH - 30.0, 14.0, 300.0, percents, percents)
    plot.y_axis(lambda percent: f"{percent} %")
    plot.x_axis(percents, lambda percent: f"{percent} %")
    plot.line("axis", plot.left, plot.bottom, plot.right, plot.bottom)
    plot.titles(
        "at least this share of the survey's references is in the corpus", "share of surveys"
    )
    top, column = plot.bottom + 64, (WIDTH - plot.left) / 2
    for number, (group, name) in enumerate(zip(groups, names, strict=True)):
        place = number - 1  # all surveys have no mark, and black
        title = f"{name}: {group.surveys:,}"
        kind = "curve wide" if place < 0 else f"curve {dash(place)}"
        points = [
            (plot.x(value), plot.y(100 * group.available[value] / group.surveys))
            for value in PERCENTS
        ]
        x, y = plot.left + number % 2 * column, top + number // 2 * 22
        with plot.group("ink" if place < 0 else f"c{place}", title):
            plot.path(kind, points)
            plot.path(kind, [(x, y - 4), (x + 32, y - 4)])
            if place >= 0:  # marks of several curves stand beside and not upon one another
                for value in range(4 * place % 20, 101, 20):
                    plot.mark(place, *points[value])
                plot.mark(place, x + 16, y - 4)
        plot.text(x + 40, y, title, room=column - 56)
    return plot.file(WIDTH, top + (len(groups) + 1) // 2 * 22 - 8, label, _STYLE)


def draw_complexity(maps: Complexity, label: str) -> str:
    """Return the picture: a dot where mind-maps are, larger for more of them, and the line."""
    depths = ticks(0, max(depth for depth, _ in maps.points) + 1, 12, whole=True)
    nodes = ticks(0, max(n for _, n in maps.points), whole=True)
    plot = Plot(80.0, WIDTH - 30.0, 40.0, 320.0, depths, nodes)
    plot.y_axis(lambda n: f"{n:,.0f}")
    plot.x_axis(depths, lambda depth: f"{depth:,.0f}")
    plot.line("axis", plot.left, plot.bottom, plot.right, plot.bottom)
    plot.line("axis", plot.left, plot.top, plot.left, plot.bottom)
    plot.titles("depth: levels of headings", "nodes: headings")
    cells: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
    for (depth, n), weight in maps.points.items():
        cell = (round(plot.x(depth) / _CELL), round(plot.y(n) / _CELL))
        cells.setdefault(cell, []).append((weight, depth, n))
    largest = max(sum(weight for weight, _, _ in dots) for dots in cells.values())
    scale = min(1.0, _MOST / (_ONE * math.sqrt(largest)))  # areas are as the numbers
    for dots in cells.values():
        number = sum(weight for weight, _, _ in dots)
        _, depth, n = max(dots)
        radius = max(_LEAST, _ONE * scale * math.sqrt(number))
        nearby = "" if len(dots) == 1 else " and nearby"
        title = f"depth {depth:,}, {n:,} nodes{nearby}: {number:,}"
        plot.dot("dot c0", plot.x(depth), plot.y(n), radius, title)
    if maps.line is not None:
        with plot.group("c1"):
            ends = _ends(maps, maps.line, int(nodes[-1]))
            plot.path("curve", [(plot.x(float(d)), plot.y(float(n))) for d, n in ends])
        plot.text(plot.left, plot.top - 18, equation(maps.line))
    return plot.file(WIDTH, plot.bottom + 50, label, _STYLE)


def equation(line: Line) -> str:
    """Return ``nodes = 2.04 × depth + 3.10``."""
    slope, intercept = float(line.slope), float(line.intercept)
    sign = "−" if intercept < 0 else "+"
    return f"nodes = {slope:.2f}".replace("-", "−") + f" × depth {sign} {abs(intercept):.2f}"


def _ends(maps: Complexity, line: Line, most: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield where the line begins and ends: over the depths there are, inside the picture."""
    depths = [depth for depth, _ in maps.points]
    for depth in (min(depths), max(depths)):
        nodes = line.slope * depth + line.intercept
        inside = min(max(nodes, Fraction(0)), Fraction(most))
        if inside != nodes:  # the slope is not 0: a level line lies inside
            yield (inside - line.intercept) / line.slope, inside
        else:
            yield Fraction(depth), nodes
