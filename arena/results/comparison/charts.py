"""The charts on the page of a comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from arena.results.comparison.model import Comparison, MetricComparison, PairedDifference
from arena.results.plots import COLOURS, Plot, dash, ticks

_ROW = 26.0


def means(comparison: Comparison, metric: MetricComparison) -> Markup:
    """Return the means of all runs with their intervals, and the ceiling as a line."""
    names, wide = comparison.names, 520.0
    ends = [metric.means[name] for name in names]
    highest = max([e.mean if e.high is None else e.high for e in ends] + [metric.ceiling or 0.0])
    lowest = min([e.mean if e.low is None else e.low for e in ends] + [0.0])
    steps = ticks(lowest, highest)
    plot = Plot(188.0, wide - 52.0, 8, 14 + _ROW * len(names), x_ticks=steps)
    for step in steps:
        plot.line("grid", plot.x(step), plot.top, plot.x(step), plot.bottom)
        plot.text(plot.x(step), plot.bottom + 15, f"{step:g}", "middle", "tick")
    if metric.ceiling is not None:
        at = plot.x(metric.ceiling)
        plot.line("ceiling", at, plot.top, at, plot.bottom, f"ceiling {metric.ceiling:.4f}")
        plot.text(at, plot.bottom + 29, "ceiling", "middle", "tick")
    for place, (name, mean) in enumerate(zip(names, ends, strict=True)):
        y = plot.top + _ROW * (place + 0.5)
        title = f"{name}: {mean.mean:.4f}"
        if mean.low is not None and mean.high is not None:
            title += f" ({mean.low:.4f} to {mean.high:.4f})"
        with plot.group(f"c{place % COLOURS}", title):
            if mean.low is not None and mean.high is not None:
                plot.path("span", [(plot.x(mean.low), y), (plot.x(mean.high), y)])
            plot.mark(place, plot.x(mean.mean), y)
        short = name if len(name) <= 26 else name[:25] + "…"
        plot.text(plot.left - 10, y + 4, short, "end", "name", title=name if short != name else "")
        plot.text(wide, y + 4, f"{mean.mean:.3f}", "end", "value")
    label = f"Means of {metric.metric} with intervals; the table holds the numbers"
    return plot.inside(wide, plot.bottom + 34, label)


def curves(curves: Mapping[str, Sequence[float]], names: Sequence[str]) -> Markup:
    """Return the share of the references that were shown against the number of searches."""
    wide, high = 720.0, 320.0
    longest = max(len(curve) for curve in curves.values()) - 1
    shares = ticks(0.0, max(max(curve) for curve in curves.values()))
    steps = [int(t) for t in ticks(0.0, float(longest), 8) if t == int(t) and t <= longest]
    plot = Plot(46.0, wide - 16, 12, 280.0, (0, max(longest, 1)), shares)
    plot.y_axis(lambda share: f"{share:g}")
    plot.x_axis(steps, lambda searches: f"{searches:g}")
    plot.titles("searches")
    for place, name in enumerate(names):
        if name not in curves:
            continue
        points = [(plot.x(i), plot.y(share)) for i, share in enumerate(curves[name])]
        end = len(points) - 1
        title = f"{name}: {curves[name][-1]:.4f} after {end} searches"
        with plot.group(f"c{place % COLOURS}", title):
            plot.path(f"curve {dash(place)}", points)
            if end < longest:
                plot.path("rest", [points[end], (plot.right, points[end][1])])
            for i in sorted({*(step for step in steps if step <= end), end}):
                plot.mark(place, *points[i])
    return plot.inside(wide, high, "Share of the references shown against the number of searches")


def differences(
    metric: MetricComparison, pair: PairedDifference, place: int, links: Mapping[str, str]
) -> Markup:
    """Return one bar per survey, from the largest gain of a run to its largest loss.

    Args:
        metric: The metric, which has the values.
        pair: The run, and the one that it is compared with.
        place: Number of the run, for its colour.
        links: Survey -> the anchor of its part of the page.
    """
    wide, high = 560.0, 150.0
    sign = -1 if metric.lower_is_better else 1
    values = zip(metric.surveys, metric.values[pair.run], metric.values[pair.against], strict=True)
    bars = sorted(
        ((sign * (a - b), survey, a, b) for survey, a, b in values),
        key=lambda bar: (-bar[0], bar[1]),
    )
    top, low = max(bars[0][0], 0.0), min(bars[-1][0], 0.0)
    plot = Plot(46.0, wide, 10, high - 10, y_ticks=(low, top if top > low else low + 1.0))
    step = (wide - plot.left - 4) / len(bars)
    zero = plot.y(0)
    with plot.group(f"c{place % COLOURS}"):
        plot.line("axis", plot.left, zero, wide, zero)
        for value in sorted({top, 0.0, low}):
            if not value or abs(plot.y(value) - zero) >= 12:  # labels must not overlap
                label = "0" if not value else f"{sign * value:+.2f}"
                plot.text(plot.left - 8, plot.y(value) + 4, label, "end", "tick")
        for number, (value, survey, a, b) in enumerate(bars):
            plot.bar(
                "won" if value > 0 else "lost", plot.left + number * step,
                min(plot.y(value), zero), max(step * 0.8, 0.6), abs(plot.y(value) - zero),
                f"{survey}: {a:.4f}, {pair.against} {b:.4f}", links[survey],
            )  # fmt: skip
    label = f"Differences in {metric.metric} between {pair.run} and {pair.against}, by survey"
    return plot.inside(wide, high, label)
