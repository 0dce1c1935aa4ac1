"""Plots as SVG inside the page: no script, colours from the page's style sheet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from arena.results.comparison._html import text
from arena.results.comparison._marks import COLOURS, dash, mark, px
from arena.results.comparison.model import Comparison, MetricComparison

_ROW = 26.0
_NAMES = 188.0
_VALUES = 52.0
_WIDTH = 520.0


def means(comparison: Comparison, metric: MetricComparison) -> str:
    """Return the means of all runs with their intervals, and the ceiling as a line."""
    names = comparison.names
    ends = [metric.means[name] for name in names]
    top = max([e.mean if e.high is None else e.high for e in ends] + [metric.ceiling or 0.0])
    lowest = min([e.mean if e.low is None else e.low for e in ends] + [0.0])
    ticks = _ticks(lowest, top)
    left, right = _NAMES, _WIDTH - _VALUES
    bottom = 14 + _ROW * len(names)

    def x(value: float) -> float:
        return left + (value - ticks[0]) / (ticks[-1] - ticks[0]) * (right - left)

    body = [_line("grid", x(t), 8, x(t), bottom) for t in ticks]
    body += [_text(x(t), bottom + 15, _short(t), "middle", "tick") for t in ticks]
    if metric.ceiling is not None:
        at = x(metric.ceiling)
        body.append(_line("ceiling", at, 8, at, bottom, f"ceiling {metric.ceiling:.4f}"))
        body.append(_text(at, bottom + 29, "ceiling", "middle", "tick"))
    for place, (name, mean) in enumerate(zip(names, ends, strict=True)):
        y = 8 + _ROW * (place + 0.5)
        told = f"{name}: {mean.mean:.4f}"
        if mean.low is not None and mean.high is not None:
            told += f" ({mean.low:.4f} to {mean.high:.4f})"
            span = f'<path class="span" d="M{px(x(mean.low))} {px(y)}H{px(x(mean.high))}"/>'
        else:
            span = ""
        body.append(
            f'<g class="c{place % COLOURS}"><title>{text(told)}</title>{span}'
            f"{mark(place, x(mean.mean), y)}</g>"
        )
        body.append(_text(left - 10, y + 4, _cut(name), "end", "name", name))
        body.append(_text(_WIDTH, y + 4, f"{mean.mean:.3f}", "end", "value"))
    label = f"Means of {metric.metric} with intervals; the table holds the numbers"
    return _svg(_WIDTH, bottom + 34, label, body)


def curves(found: Mapping[str, Sequence[float]], names: Sequence[str]) -> str:
    """Return the share of the references that were shown against the number of searches."""
    width, height, left, bottom = 720.0, 320.0, 46.0, 280.0
    longest = max(len(curve) for curve in found.values()) - 1
    ticks = _ticks(0.0, max(max(curve) for curve in found.values()))
    steps = [int(t) for t in _ticks(0.0, float(longest), 8) if t == int(t) and t <= longest]

    def x(searches: float) -> float:
        return left + searches / max(longest, 1) * (width - left - 16)

    def y(share: float) -> float:
        return bottom - share / ticks[-1] * (bottom - 12)

    body = [_line("grid", left, y(t), width - 16, y(t)) for t in ticks]
    body += [_text(left - 8, y(t) + 4, _short(t), "end", "tick") for t in ticks]
    body += [_text(x(t), bottom + 18, _short(t), "middle", "tick") for t in steps]
    body.append(_text((left + width) / 2, bottom + 36, "searches", "middle", "tick"))
    for place, name in enumerate(names):
        curve = found.get(name)
        if curve is None:
            continue
        points = "L".join(f"{px(x(i))} {px(y(v))}" for i, v in enumerate(curve))
        end = len(curve) - 1
        told = f"{name}: {curve[-1]:.4f} after {end} searches"
        rest = f'<path class="rest" d="M{px(x(end))} {px(y(curve[-1]))}H{px(width - 16)}"/>'
        marks = "".join(
            mark(place, x(i), y(curve[i])) for i in sorted({*(s for s in steps if s <= end), end})
        )
        body.append(
            f'<g class="c{place % COLOURS}"><title>{text(told)}</title>'
            f'<path class="curve {dash(place)}" d="M{points}"/>'
            f"{rest if end < longest else ''}{marks}</g>"
        )
    label = "Share of the references shown against the number of searches"
    return _svg(width, height, label, [b for b in body if b])


def differences(
    metric: MetricComparison, run: str, against: str, place: int, links: Mapping[str, str]
) -> str:
    """Return a bar a survey, from the largest gain of `run` to its largest loss.

    Args:
        metric: has the values.
        run: the one.
        against: the other.
        place: number of the run, for its colour.
        links: survey -> the anchor of its page.
    """
    width, height, left = 560.0, 150.0, 46.0
    sign = -1 if metric.lower_is_better else 1
    pairs = zip(metric.surveys, metric.values[run], metric.values[against], strict=True)
    bars = sorted(
        ((sign * (a - b), s, a, b) for s, a, b in pairs), key=lambda bar: (-bar[0], bar[1])
    )
    top, low = max(bars[0][0], 0.0), min(bars[-1][0], 0.0)
    scale = (height - 20) / ((top - low) or 1.0)
    step = (width - left - 4) / len(bars)

    def y(value: float) -> float:
        return 10 + (top - value) * scale

    body = [_line("axis", left, y(0), width, y(0))]
    for value in sorted({top, 0.0, low}):
        near = value and abs(value) * scale < 12  # its label would lie on that of 0
        told = "0" if not value else f"{sign * value:+.2f}"
        body += [] if near else [_text(left - 8, y(value) + 4, told, "end", "tick")]
    for number, (value, survey, a, b) in enumerate(bars):
        upper, tall = min(y(value), y(0)), max(abs(y(value) - y(0)), 1.0)
        told = f"{survey}: {a:.4f}, {against} {b:.4f}"
        body.append(
            f'<a href="#{links[survey]}"><rect class="{"won" if value > 0 else "lost"}" '
            f'x="{px(left + number * step)}" y="{px(upper)}" width="{px(max(step * 0.8, 0.6))}" '
            f'height="{px(tall)}"><title>{text(told)}</title></rect></a>'
        )
    label = f"Differences in {metric.metric} between {run} and {against}, survey by survey"
    return _svg(width, height, label, [f'<g class="c{place % COLOURS}">', *body, "</g>"])


def _svg(width: float, height: float, label: str, body: Sequence[str]) -> str:
    return (
        f'<svg class="plot" viewBox="0 0 {px(width)} {px(height)}" role="img" '
        f'aria-label="{text(label)}">{"".join(body)}</svg>'
    )


def _ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Return round numbers from below `low` to above `high`, `most` steps between at most."""
    if high - low < 1e-9:
        high = low + 1.0
    rough = (high - low) / most
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= rough - 1e-12)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def _line(kind: str, x1: float, y1: float, x2: float, y2: float, told: str = "") -> str:
    title = f"<title>{text(told)}</title>" if told else ""
    return f'<path class="{kind}" d="M{px(x1)} {px(y1)}L{px(x2)} {px(y2)}">{title}</path>'


def _text(x: float, y: float, value: str, anchor: str, kind: str, told: str = "") -> str:
    title = f"<title>{text(told)}</title>" if told and told != value else ""
    return (
        f'<text class="{kind}" x="{px(x)}" y="{px(y)}" text-anchor="{anchor}">'
        f"{text(value)}{title}</text>"
    )


def _cut(name: str) -> str:
    return name if len(name) <= 26 else name[:25] + "…"


def _short(value: float) -> str:
    return f"{value:g}"
