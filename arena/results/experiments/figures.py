"""The figures of an experiment: bars and points of the values in its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from statistics import linear_regression
from typing import Any, NamedTuple

from arena._internal.lazy import load
from arena._internal.plots import COLOURS, GREY, INK, MARKERS, draw, short
from arena.dates import GUESS_MARK
from arena.results.experiments.config import Experiment, FigureSpec, TableSpec, slug
from arena.text.display import count

_FEWEST = 3  # runs of a trend


class Point(NamedTuple):
    """A finished run in a table and its figures; no trend counts it if its row is one of ``more``.

    `row` and `column` are labels, `values` what stands under each heading.
    """

    row: str
    column: str
    further: bool
    values: Mapping[str, float | None]


def points_of(
    experiment: Experiment,
    table: TableSpec,
    reported: Mapping[str, str],
    scores: Mapping[str, Mapping[str, Any]],
) -> list[Point]:
    """Return the finished runs of a table with the values under its headings, in its order."""
    return [
        Point(
            row,
            column,
            row in table.more,
            {head: scores[key]["mean"].get(metric) for head, metric in reported.items()},
        )
        for row, _, column, key in experiment.runs_of(table)
        if key in scores
    ]


def make_figures(
    experiment: Experiment,
    reported: Mapping[str, Mapping[str, str]],
    scores: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[str, dict[str, Any]], dict[str, bytes]]:
    """Draw the figures whose tables are made; none where matplotlib is not installed.

    Returns:
        Name -> ``title``, ``file``, ``dates_guessed`` if so and, of points with a trend,
        ``spearman``; and name of a file -> its content.
    """
    figures: dict[str, dict[str, Any]] = {}
    files: dict[str, bytes] = {}
    for name, figure in experiment.figures.items():
        table = experiment.tables[figure.table]
        points = points_of(experiment, table, reported[figure.table], scores)
        if table.columns == "retrievers" and len(experiment.retrievers) > 1:
            points = [p._replace(row=f"{p.row}, {p.column}") for p in points]
        title, file = figure.title or f"Figure {name}", f"figure-{slug(name)}.svg"
        figures[name] = {"title": figure.title, "file": file}
        if any(run.get("dates_guessed") for run in scores.values()):
            figures[name]["dates_guessed"] = True
            title += GUESS_MARK
        if figure.trend:
            figures[name]["spearman"] = found = spearman(points, figure.x, figure.y)
            title += f"\n{_said(found)}"
        if find_spec("matplotlib") is None:
            figures[name]["file"] = None
            continue
        headings = figure.metrics or tuple(table.metrics)
        bars = figure.kind == "bars"
        drawn = _bars(points, headings, title) if bars else _scatter(points, figure, title)
        files |= {f"{file.removesuffix('svg')}{kind}": drawn[kind] for kind in drawn}
    return figures, files


def spearman(points: Sequence[Point], x: str, y: str) -> dict[str, Any]:
    """Return Spearman's ``rho``, its two-sided ``p``, and the number of ``runs`` that have both.

    Rows of ``more`` do not count. Both numbers are None with fewer than three runs, or if all
    have the same value.
    """
    spearmanr = load("scipy.stats", "a correlation").spearmanr
    pairs = _pairs([point for point in points if not point.further], x, y)
    vary = all(len(set(values)) > 1 for values in zip(*pairs, strict=True))
    known = len(pairs) >= _FEWEST and vary
    rho, p = map(float, spearmanr(pairs)) if known else (None, None)
    return {"rho": rho, "p": p, "runs": len(pairs)}


def _pairs(points: Sequence[Point], x: str, y: str) -> list[tuple[float, float]]:
    found = [(point.values[x], point.values[y]) for point in points]
    return [(a, b) for a, b in found if a is not None and b is not None]


def _said(found: Mapping[str, Any]) -> str:
    if found["rho"] is None:
        return f"Spearman's correlation is not defined for {count(found['runs'], 'run')}"
    return f"Spearman's ρ = {found['rho']:.2f}, p = {found['p']:.3f}, {count(found['runs'], 'run')}"


def _bars(points: Sequence[Point], headings: Sequence[str], title: str) -> dict[str, bytes]:
    """Return horizontal bars, one of each metric for each run; runs of `more` are grey."""

    def paint(axes: Any) -> None:
        thick = 0.8 / len(headings)
        for number, heading in enumerate(headings):
            places = [place + number * thick for place in range(len(points))]
            values = [point.values[heading] for point in points]
            grey = [GREY if point.further else COLOURS[0] for point in points]
            colour = grey if len(headings) == 1 else COLOURS[number % len(COLOURS)]
            drawn = axes.barh(
                places, [value or 0.0 for value in values], thick * 0.9, color=colour, label=heading
            )
            axes.bar_label(drawn, ["-" if v is None else f"{v:.3f}" for v in values], padding=3)
        middle = (len(headings) - 1) * thick / 2
        axes.set_yticks(
            [place + middle for place in range(len(points))], [short(p.row) for p in points]
        )
        axes.invert_yaxis()
        axes.margins(x=0.1)
        axes.grid(axis="x")
        axes.set_xlabel(headings[0] if len(headings) == 1 else "mean over the surveys")
        axes.set_title(title, loc="left", wrap=True)
        if len(headings) > 1:
            axes.figure.legend(loc="outside lower center", ncols=4)

    return draw(paint, height=1.5 + 0.3 * len(points) * max(1, len(headings) * 0.7))


def _scatter(points: Sequence[Point], figure: FigureSpec, title: str) -> dict[str, bytes]:
    """Return points with a legend of their names; the areas of the marks are as `size`."""
    x, y, size = figure.x, figure.y, figure.size
    shown = [point for point in points if _pairs([point], x, y)]
    sizes = [max(0.0, point.values[size] or 0.0) if size else 1.0 for point in shown]

    def paint(axes: Any) -> None:
        for place, point in enumerate(shown):
            colour = GREY if point.further else COLOURS[place % len(COLOURS)]
            area = 30 + 170 * sizes[place] / (max(sizes) or 1.0) if size else 70
            look = {"color": colour, "marker": MARKERS[place % len(MARKERS)], "alpha": 0.8}
            value = point.values[size] if size else None
            name = short(point.row) + (f" ({value:.3f})" if value is not None else "")
            axes.scatter(point.values[x], point.values[y], area, label=name, **look)
        pairs = _pairs([point for point in shown if not point.further], x, y)
        if figure.trend and len(pairs) >= _FEWEST and len({a for a, _ in pairs}) > 1:
            slope, start = linear_regression(*zip(*pairs, strict=True))
            ends = [min(a for a, _ in pairs), max(a for a, _ in pairs)]
            line = [start + slope * end for end in ends]
            axes.plot(
                ends, line, color=INK, linestyle="dashed", label="least squares, without grey"
            )
        axes.set(xlabel=x, ylabel=y)
        axes.grid()
        axes.set_title(title, loc="left", wrap=True)
        heading = f"(in brackets, and as area: {size})" if size else None
        if shown:
            axes.figure.legend(loc="outside right upper", title=heading)

    return draw(paint, 8.5, 4.5)
