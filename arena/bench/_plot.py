"""The results as a picture."""

from __future__ import annotations

import importlib.util
import io
from typing import Any

from arena.bench._tables import Results, percents_of

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKS = "osD^vPX"
_PANELS = (("single", "one query at a time"), ("batch", "in batches"))


def svg(results: Results) -> str | None:
    """Return an SVG of the CPU time of a query; None without matplotlib.

    A row a size and family of engines, single queries on the left, batches on the right. The
    dotted line is the time in which one core reads what a query needs of the project's own index.
    """
    if importlib.util.find_spec("matplotlib") is None:
        return None
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    with rc_context(
        {"svg.hashsalt": "arena", "svg.fonttype": "none", "font.size": 10, "axes.titlesize": 11}
    ):
        figure = draw(results)
        FigureCanvasSVG(figure)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"


def draw(results: Results) -> Any:
    """Return the matplotlib figure."""
    from matplotlib.figure import Figure

    rows = [
        (size, family, engines)
        for size in results["sizes"]
        for family in ("lexical", "dense")
        if (engines := _measured(results, size, family))
    ]
    figure = Figure(figsize=(10.5, 0.4 + 3.1 * max(len(rows), 1)), layout="constrained")
    if not rows:
        return figure
    for axes, (size, family, engines) in zip(
        figure.subplots(len(rows), 2, squeeze=False, sharey="row"), rows, strict=True
    ):
        for panel, (mode, title) in zip(axes, _PANELS, strict=True):
            _panel(panel, size, engines, mode)
            panel.set_title(f"{size['documents']:,} documents, {family}, {title}")
        lowest = min(
            engine[mode][percent]["cpu_ms"]["q1"]
            for engine in engines.values()
            for mode, _ in _PANELS
            for percent in percents_of(size)
        )
        axes[0].set_ylim(bottom=lowest / 4)  # a floor may lie far below, and flatten the rest
        axes[0].set_ylabel("CPU ms a query")
        handles, labels = axes[0].get_legend_handles_labels()
        last = [i for i, label in enumerate(labels) if "\n" in label]  # the floor
        order = [i for i in range(len(labels)) if i not in last] + last
        axes[1].legend(
            [handles[i] for i in order], [labels[i] for i in order],
            loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False,
        )  # fmt: skip
    for panel in axes:
        panel.set_xlabel("documents before the cutoff")
    return figure


def _measured(results: Results, size: Results, family: str) -> dict[str, Results]:
    found = {name: size["engines"][name] for name in results["settings"]["engines"]}
    return {
        name: engine
        for name, engine in found.items()
        if engine["status"] == "measured" and engine["family"] == family
    }


def _panel(axes: Any, size: Results, engines: dict[str, Results], mode: str) -> None:
    percents = percents_of(size)
    places = range(len(percents))
    for i, (name, engine) in enumerate(engines.items()):
        times = [engine[mode][percent]["cpu_ms"] for percent in percents]
        middle = [t["median"] for t in times]
        spread = (
            [t["median"] - t["q1"] for t in times],
            [t["q3"] - t["median"] for t in times],
        )
        axes.errorbar(
            places, middle, spread, label=name, color=_COLOURS[i % len(_COLOURS)], capsize=3,
            marker=_MARKS[i % len(_MARKS)], markersize=5,
            linewidth=2.4 if engine["native"] else 1.2,
        )  # fmt: skip
    own = next((name for name, engine in engines.items() if engine["native"]), None)
    if own is not None and mode == "single":
        floor = [engines[own]["work"][percent]["floor_ms"] for percent in percents]
        axes.plot(places, floor, ":", color="#555555", label=f"bytes of {own}\nover bandwidth")
    axes.set_yscale("log")
    axes.set_xticks(places, [f"{percent} %" for percent in percents])
    axes.grid(axis="y", which="major", color="#dddddd")
    axes.set_axisbelow(True)
    axes.yaxis.set_major_formatter("{x:g}")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
