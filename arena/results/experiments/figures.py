"""The figures of an experiment: bars and points of the values in its tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import linear_regression
from typing import Any, NamedTuple

from arena.dates import GUESS_MARK
from arena.results.experiments.config import Experiment, FigureSpec, slug
from arena.results.plots import COLOURS, SIZE, STYLE, Plot, ticks
from arena.text.display import width

_WIDTH = 760.0
_TOP = 48.0  # below the title
_ROW = 22.0
_NAMES = 200.0  # pixels of the column of names
_SIDE = 370.0  # of the square of points
_SMALLEST, _LARGEST = 0.6, 2.0  # scale of a mark
_FEWEST = 3  # runs of a trend


class Point(NamedTuple):
    """A run in a figure.

    Attributes:
        name: Label of its row, with the label of its retriever if the table has several.
        further: Whether its row is one of ``more``, which no trend counts.
        values: Heading -> mean; None where it is unknown.
    """

    name: str
    further: bool
    values: Mapping[str, float | None]


def points_of(
    experiment: Experiment,
    name: str,
    reported: Mapping[str, str],
    scores: Mapping[str, Mapping[str, Any]],
) -> list[Point]:
    """Return the finished runs of a table, in its order.

    Args:
        experiment: The configuration.
        name: Name of the table.
        reported: Heading -> name of the metric in `scores`.
        scores: Directory of a run -> its scores, with ``mean``.
    """
    table = experiment.tables[name]
    several = table.columns == "retrievers" and len(experiment.retrievers) > 1
    points = []
    for label, _, column, key in experiment.runs_of(table):
        if key in scores:
            values = {head: scores[key]["mean"].get(name) for head, name in reported.items()}
            shown = f"{label}, {column}" if several else label
            points.append(Point(shown, label in table.more, values))
    return points


def make_figures(
    experiment: Experiment,
    reported: Mapping[str, Mapping[str, str]],
    scores: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[str, dict[str, Any]], dict[str, str]]:
    """Draw the figures whose tables are made.

    Returns:
        Name -> ``title``, ``file``, ``dates_guessed`` if so and, of points with a trend,
        ``spearman``; and name of a file -> its content.
    """
    figures: dict[str, dict[str, Any]] = {}
    files = {}
    for name, figure in experiment.figures.items():
        points = points_of(experiment, figure.table, reported[figure.table], scores)
        title, file = figure.title or f"Figure {name}", f"figure-{slug(name)}.svg"
        figures[name] = {"title": figure.title, "file": file}
        if any(run.get("dates_guessed") for run in scores.values()):
            figures[name]["dates_guessed"] = True
            title += GUESS_MARK
        if figure.kind == "bars":
            headings = figure.metrics or tuple(experiment.tables[figure.table].metrics)
            files[file] = _bars(points, headings, title)
            continue
        if figure.trend:
            figures[name]["spearman"] = found = spearman(points, figure.x, figure.y)
            title += f"; {_said(found)}"
        files[file] = _scatter(points, figure, title)
    return figures, files


def spearman(points: Sequence[Point], x: str, y: str) -> dict[str, Any]:
    """Return Spearman's ``rho``, its two-sided ``p``, and the number of ``runs`` that have both.

    Rows of ``more`` do not count. Both numbers are None with fewer than three runs, or if all
    have the same value.
    """
    from scipy.stats import spearmanr

    pairs = _pairs([point for point in points if not point.further], x, y)
    vary = all(len(set(values)) > 1 for values in zip(*pairs, strict=True))
    known = len(pairs) >= _FEWEST and vary
    rho, p = map(float, spearmanr(pairs)) if known else (None, None)
    return {"rho": rho, "p": None if p is None or math.isnan(p) else p, "runs": len(pairs)}


def _pairs(points: Sequence[Point], x: str, y: str) -> list[tuple[float, float]]:
    found = [(point.values[x], point.values[y]) for point in points]
    return [(a, b) for a, b in found if a is not None and b is not None]


def _said(found: Mapping[str, Any]) -> str:
    if found["rho"] is None:
        return f"Spearman's correlation is not defined for {found['runs']} runs"
    p = "" if found["p"] is None else f", p = {found['p']:.3f}"
    return f"Spearman's ρ = {found['rho']:.2f}{p}, {found['runs']} runs"


def _bars(points: Sequence[Point], headings: Sequence[str], title: str) -> str:
    """Return horizontal bars, one of each metric for each run."""
    values = [value for point in points for h in headings if (value := point.values[h]) is not None]
    steps = ticks(min([0.0, *values]), max([0.0, *values]))
    thick = 18.0 if len(headings) == 1 else 12.0
    group = thick * len(headings) + 10
    top = _TOP + (_ROW if len(headings) > 1 else 0)
    plot = Plot(_NAMES, _WIDTH - 70, top, top + group * len(points), steps)
    for step in steps:
        plot.line("grid", plot.x(step), plot.top, plot.x(step), plot.bottom)
    plot.x_axis(steps, lambda value: f"{value:g}")
    for place, point in enumerate(points):
        y = plot.top + place * group + 5
        middle = y + (group - 10) / 2
        plot.text(plot.left - 10, middle + 5, point.name, "end", room=plot.left - 20)
        for number, heading in enumerate(headings):
            value = point.values[heading]
            kind = "rest" if point.further and len(headings) == 1 else f"c{number % COLOURS}"
            with plot.group(kind):
                if value is None:
                    plot.text(plot.x(0) + 6, y + thick - 4, "-", kind="tick")
                    continue
                start, end = sorted((plot.x(0), plot.x(value)))
                said = f"{point.name}: {heading} {value:.4f}"
                plot.bar("bar", start, y, max(end - start, 1), thick - 2, said)
                plot.text(max(end, plot.x(0)) + 6, y + thick - 4, f"{value:.3f}", kind="tick")
            y += thick
    plot.line("axis", plot.x(0), plot.top, plot.x(0), plot.bottom)
    if len(headings) > 1:
        x = plot.left
        for number, heading in enumerate(headings):
            with plot.group(f"c{number % COLOURS}"):
                plot.bar("bar", x, top - 22, 12, 12, heading)
            plot.text(x + 18, top - 12, heading)
            x += 36 + width(heading, SIZE)
    plot.titles(", ".join(headings) if len(headings) == 1 else "mean over the surveys")
    return _file(plot, plot.bottom + 48, title)


def _scatter(points: Sequence[Point], figure: FigureSpec, title: str) -> str:
    """Return points with a legend of their names; the marks grow with the root of `size`."""
    x, y, size = figure.x, figure.y, figure.size
    shown = [point for point in points if _pairs([point], x, y)]
    pairs = _pairs(shown, x, y)
    axes = [ticks(min(axis), max(axis)) for axis in zip(*pairs, strict=True)] or [[0, 1], [0, 1]]
    plot = Plot(72.0, 72.0 + _SIDE, _TOP, _TOP + _SIDE, *axes)
    plot.y_axis(lambda value: f"{value:g}")
    plot.x_axis(axes[0], lambda value: f"{value:g}")
    for step in axes[0]:
        plot.line("grid", plot.x(step), plot.top, plot.x(step), plot.bottom)
    plot.line("axis", plot.left, plot.bottom, plot.right, plot.bottom)
    plot.line("axis", plot.left, plot.top, plot.left, plot.bottom)
    plot.titles(x, y)
    if figure.trend:
        _draw_trend(plot, _pairs([point for point in shown if not point.further], x, y))
    sizes = [max(0.0, point.values[size] or 0.0) if size else 0.0 for point in shown]
    largest = max(sizes, default=0.0)
    scales = [
        _SMALLEST + (_LARGEST - _SMALLEST) * math.sqrt(value / largest) if largest else 1.0
        for value in sizes
    ]
    legend, row = plot.right + 44, plot.top + 4
    if size:
        plot.text(legend - 10, row, f"size of a mark: {size}", kind="tick")
        row += _ROW + 2
    for place in sorted(range(len(shown)), key=lambda place: -scales[place]):  # small ones on top
        point, (a, b), at = shown[place], pairs[place], row + place * _ROW
        said = f"{point.name}: {x} {a:.4f}, {y} {b:.4f}"
        value = point.values[size] if size else None
        said += f", {size} {value:.4f}" if value is not None else ""
        with plot.group("rest" if point.further else f"c{place % COLOURS}", said):
            plot.mark(place, plot.x(a), plot.y(b), scales[place])
            plot.mark(place, legend, at - 4)
        plot.text(legend + 16, at, point.name, room=_WIDTH - legend - (80 if size else 26))
        if value is not None:
            plot.text(_WIDTH - 12, at, f"{value:.3f}", "end", "tick")
    row += len(shown) * _ROW
    if figure.trend and any(point.further for point in shown):
        plot.text(legend - 10, row, "grey: not in the trend", kind="tick")
    return _file(plot, max(plot.bottom + 52, row + 12), title)


def _draw_trend(plot: Plot, pairs: Sequence[tuple[float, float]]) -> None:
    """Draw the least squares line as far as the runs reach; none for fewer than three."""
    if len(pairs) < _FEWEST or len({a for a, _ in pairs}) == 1:
        return
    slope, start = linear_regression(*zip(*pairs, strict=True))
    ends = [min(a for a, _ in pairs), max(a for a, _ in pairs)]
    line = [(plot.x(a), min(max(plot.y(start + slope * a), plot.top), plot.bottom)) for a in ends]
    plot.path("trend", line, "least squares line")


def _file(plot: Plot, high: float, title: str) -> str:
    plot.text(16, 26, title, room=_WIDTH - 32)
    return plot.file(_WIDTH, high, title, STYLE)
