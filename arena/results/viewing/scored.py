"""The parts of a page of systems that a suite scored, besides their comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from arena.results.comparison.comparing import Estimate
from arena.results.comparison.report import number
from arena.results.viewing.drawing import Axis, Bar, means_axis
from arena.suites import Evaluation, comparability


def of_suite(scored: Mapping[str, Evaluation]) -> dict[str, Any]:
    """Return the values of the template ``scored.html`` for name -> scores of each system."""
    systems = [*scored.values()]
    parts = {name: each.parts() for name, each in scored.items()}
    names = dict.fromkeys(part for each in parts.values() for part in each)
    return {
        "scored": scored,
        "unscored": _unscored(systems),
        "parts": [[part, *(_cell(each.get(part)) for each in parts.values())] for part in names],
        "part_charts": _charts(parts, [*names]) if names else [],
        "published": [
            (f"{table['benchmark']}: {comparability(table)}", table["source"], *_turned(table))
            for table in (systems[0].published if systems else ())
            if {*table["columns"]} & {*systems[0].mean}
        ],
    }


def _unscored(systems: list[Evaluation]) -> dict[str, list[str]]:
    """Return what is needed -> the metrics that nothing computed for lack of it."""
    found = dict[str, list[str]]()
    for name in dict.fromkeys(name for each in systems for name in (*each.mean, *each.needs)):
        if all(each.mean.get(name) is None for each in systems):
            need = next((each.needs[name] for each in systems if name in each.needs), "")
            found.setdefault(f"needs {need}" if need else "no value", []).append(name)
    return found


def _cell(part: tuple[float | None, str] | None) -> str:
    mean, said = part or (None, "")
    return said or "no value" if mean is None else number(mean) + (f", {said}" if said else "")


def _charts(
    parts: Mapping[str, Mapping[str, tuple[float | None, str]]], names: list[str]
) -> list[tuple[str, Axis, list[Bar]]]:
    """Return a chart of all parts of one system, or one of each part; without a mean no bar."""
    bars, alone = dict[str, list[Bar]](), len(parts) == 1
    for part in names:
        for place, (system, each) in enumerate(parts.items()):
            if (mean := each.get(part, (None, ""))[0]) is not None:
                bar = Bar(part if alone else system, place, Estimate(mean, None, None), None, None)
                bars.setdefault("" if alone else part, []).append(bar)
    axis = means_axis(bar.mean.mean for each in bars.values() for bar in each)
    return [(title, axis, each) for title, each in bars.items()]


def _turned(table: Mapping[str, Any]) -> tuple[list[str], list[list[Any]]]:
    """Return header and rows of published numbers, a row for each metric.

    They have the zeros at their ends that YAML drops.
    """
    cells = [cell for row in table["rows"].values() for cell in row if isinstance(cell, float)]
    decimals = max((len(str(cell).partition(".")[2]) for cell in cells), default=0)
    rows = [
        [f"{cell:.{decimals}f}" if isinstance(cell, float) else "-" if cell is None else cell
         for cell in row]
        for row in zip(table["columns"], *table["rows"].values(), strict=True)
    ]  # fmt: skip
    return ["", *table["rows"]], rows
