"""The templates of pages, and what their plots are drawn with."""

from __future__ import annotations

import base64
import functools
import hashlib
import math
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from markupsafe import Markup, escape

from arena.kit.terminal import MISSING
from arena.results.comparison import report as reports
from arena.results.comparison.comparing import (
    Comparison,
    Estimate,
    MetricComparison,
    PairedDifference,
)
from arena.results.comparison.paired import TIE
from arena.text.display import page_templates, shown

FOLDER = Path(__file__).parent
_BREAK = re.compile(r"([,(+/_])(?=[^\s,(+/_])")  # hybrid(bm25,dense), tree_edit_distance: no spaces
MARKS = "●■▲▼◆★○□△▽◇☆"
"""The marks of the first runs; the page has six colours."""
_UNITS = ("billionths", "millionths", "thousandths", "", "thousands", "millions", "billions")


def style() -> Markup:
    """Return the style sheet that pages share."""
    return Markup((FOLDER / "page.css").read_text(encoding="utf-8"))


def digest_of(script: str) -> str:
    """Return the hash by which a page's policy allows its script."""
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


@functools.cache
def environment(*folders: Path) -> Any:
    """Return the environment of the templates in `folders`, and of those that pages share.

    It escapes every value that it prints.
    """
    made = page_templates(*folders, FOLDER)
    made.filters |= {
        "cut": shown,
        "number": _number,
        "breakable": lambda name: Markup(_BREAK.sub(r"\1<wbr>", str(escape(shown(name, 80))))),
    }
    return made


def _number(value: Any, decimals: int = 4, sign: str = "", missing: str = MISSING) -> str:
    """Return a number, or the sign of an unknown one; text stays as it is."""
    if value is None:
        return missing
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    text = reports.number(value, decimals, sign)
    return text if sign or text.strip("-0.") else text.lstrip("-")  # no -0.000


def mark(place: int) -> str:
    """Return the mark of run number `place`; no two runs have the same, also without colours."""
    return MARKS[place] if place < len(MARKS) else str(place + 1)


class Axis:
    """Values on an axis from pixel `start` to `end`, with at most `most` steps of round numbers.

    Its `unit` is a word, such as "millionths", where the numbers are too small or large to read;
    `scale` is its value, 1e-06.
    """

    def __init__(self, values: Iterable[float], start: float, end: float, most: int = 6) -> None:
        values = list(values)
        low, high = min(values), max(values)
        rough = (high - low if high - low > TIE else 1.0) / most
        exponent = math.floor(math.log10(rough))
        unit = 10.0**exponent
        step = next(unit * m for m in (1, 2, 5, 10) if unit * m >= rough * (1 - 1e-9))
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        self.ticks = [round(i * step, -exponent) for i in range(first, max(last, first + 1) + 1)]
        largest = max(map(abs, self.ticks))
        readable = 1e-3 <= largest < 1e5
        thousands = 0 if readable else max(-3, min(3, math.floor(math.log10(largest) / 3)))
        self.unit, self.scale = _UNITS[thousands + 3], 1000.0**thousands
        self._start, self._pixels = start, (end - start) / (self.ticks[-1] - self.ticks[0])

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        return round(self._start + (value - self.ticks[0]) * self._pixels, 1)

    def label(self, value: float) -> str:
        """Return what stands at a tick: the value in the `unit` of the axis, no power of ten."""
        return f"{value / self.scale:,.10g}"


class Bar(NamedTuple):
    """A mean in a chart, with its interval; `place` is that of its run."""

    name: str
    place: int
    mean: Estimate
    floor: float | None
    ceiling: float | None

    @property
    def ends(self) -> list[float]:
        """All values that its chart shows."""
        ends = (self.mean.mean, self.mean.low, self.mean.high, self.floor, self.ceiling)
        return [end for end in ends if end is not None]


Chart = tuple[MetricComparison | None, Axis, list[Bar]]


def charts(comparison: Comparison) -> list[Chart]:
    """Return the charts of means: metric, axis and bars.

    Metrics from -1 to 1 have one scale, and of a single run one chart, which is of no metric. An
    oracle is the ceiling, and no bar.
    """
    runs = [(place, run) for place, run in enumerate(comparison.runs)]
    runs = [(n, run) for n, run in runs if not reports.is_ceiling(comparison, run)] or runs
    drawn, absent = dict[str, list[Bar]](), reports.zeros(comparison)
    by_name = {m.metric: m for m in comparison.metrics if m.means and m.metric not in absent}
    for name, m in by_name.items():
        bars = [
            (run.name, n, m.means[run.name], reports.floor(run, m), m.ceiling) for n, run in runs
        ]
        drawn[name] = [Bar(*bar) for bar in bars]
    ends = {name: [end for bar in bars for end in bar.ends] for name, bars in drawn.items()}
    shares = [name for name in drawn if max(map(abs, ends[name])) <= 1]
    shared = means_axis([end for name in shares for end in ends[name]])
    others: list[Chart] = [
        (m, means_axis(ends[name]), drawn[name])
        for name, m in by_name.items()
        if name not in shares
    ]
    if len(runs) == 1:
        every = [bar._replace(name=name) for name in shares for bar in drawn[name]]
        return [(None, shared, every), *others] if every else others
    return [*((by_name[name], shared, drawn[name]) for name in shares), *others]


def means_axis(ends: Iterable[float]) -> Axis:
    """Return the axis of means, which begins or ends at 0 unless they lie on both sides."""
    return Axis([0.0, *ends], 188, 456)


def gains(metric: MetricComparison, pair: PairedDifference) -> list[tuple[float, str, float]]:
    """Return (difference, topic, value of the run), from its largest gain to its largest loss."""
    sign = -1 if metric.lower_is_better else 1
    values = zip(metric.topics, metric.values[pair.run], metric.values[pair.against], strict=True)
    return sorted(
        ((a - b, topic, a) for topic, a, b in values), key=lambda bar: (-sign * bar[0], bar[1])
    )


def axis_of_gains(metric: MetricComparison, pairs: Iterable[PairedDifference]) -> Axis:
    """Return the axis of the `gains` of all pairs, on which better is up."""
    sign = -1 if metric.lower_is_better else 1
    ends = [sign * gain for pair in pairs for gain, *_ in gains(metric, pair)]
    return Axis([0.0, *ends], 140, 10, 4)
