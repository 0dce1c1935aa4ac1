"""What is reported: the paired test, the table, and the picture of the learning curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from arena.cli.app import print_table
from arena.results.plots import STYLE, Plot, ticks

Recalls = Mapping[str, float]
"""Survey -> recall@100."""


def mean_over(runs: Sequence[Recalls]) -> dict[str, float]:
    """Return the mean of several runs, by survey."""
    return {survey: float(np.mean([run[survey] for run in runs])) for survey in runs[0]}


def paired(ours: Recalls, theirs: Recalls) -> dict[str, Any]:
    """Compare two agents by survey: the Wilcoxon signed-rank test, two-sided.

    Pairs without a difference are left out, as Wilcoxon has it; `n` counts all pairs.

    >>> paired({"a": 0.5, "b": 0.75}, {"a": 0.25, "b": 0.25})
    {'n': 2, 'better': 2, 'worse': 0, 'mean_difference': 0.375, 'p': 0.5}
    """
    from scipy.stats import wilcoxon

    # Rounded, so that means over seeds that differ in the last bit only are ties.
    gaps = np.round([ours[survey] - theirs[survey] for survey in sorted(ours)], 12)
    return {
        "n": len(gaps),
        "better": int((gaps > 0).sum()),
        "worse": int((gaps < 0).sum()),
        "mean_difference": float(gaps.mean()),
        "p": float(wilcoxon(gaps).pvalue) if gaps.any() else 1.0,
    }


def show(results: Mapping[str, Any]) -> None:
    """Print the mean of every agent on every group of tests, and the paired tests."""
    tests = results["tests"]
    agents = next(iter(tests.values()))["mean"]
    rows = [(agent, *(test["mean"][agent] for test in tests.values())) for agent in agents]
    for seed in range(results["seeds"]):
        rows.append((f"trained, seed {seed}", *(test["by_seed"][seed] for test in tests.values())))
    print_table(rows, ("recall@100", *tests))
    for name, test in tests.items():
        print(f"\nOn {name}, by survey (Wilcoxon signed-rank test, two-sided):")
        pairs = {
            f"trained against {other}": pair for other, pair in test["trained_against"].items()
        }
        pairs["random phrases against title"] = test["random_phrases_against_title"]
        for title, pair in pairs.items():
            p = f"p = {pair['p']:.2g}" if pair["p"] >= 1e-4 else f"p = {pair['p']:.0e}"
            print(
                f"  {title}: {pair['mean_difference']:+.4f} a survey, better on {pair['better']}, "
                f"worse on {pair['worse']} of {pair['n']}, {p}"
            )


def svg(curves: Mapping[str, Sequence[tuple[int, float]]], levels: Mapping[str, float]) -> str:
    """Return an SVG of learning curves with levels to compare with.

    Args:
        curves: Name -> (episodes, mean recall@100), in order.
        levels: Name -> mean recall@100 of an agent that does not learn.
    """
    last = max(curve[-1][0] for curve in curves.values())
    plot = Plot(70, 620, 20, 330, ticks(0, last, whole=True), ticks(0, 1))
    plot.y_axis(lambda value: f"{value:g}")
    plot.x_axis(ticks(0, last, whole=True), lambda value: f"{value:g}")
    plot.titles("training episodes", "mean recall@100 on unseen worlds")
    for name, level in levels.items():
        plot.line("trend", plot.left, plot.y(level), plot.right, plot.y(level))
        plot.text(plot.right + 8, plot.y(level) + 4, f"{name} {level:.3f}")
    for place, (name, curve) in enumerate(curves.items()):
        points = [(plot.x(episodes), plot.y(recall)) for episodes, recall in curve]
        with plot.group(f"c{place % 6}"):
            plot.path("curve", points)
            for point in (*points, (plot.left + 15, plot.top + 15 + 20 * place)):
                plot.mark(place, *point)
        plot.text(plot.left + 28, plot.top + 20 + 20 * place, name)
    return plot.file(800, 380, "Learning curves of the seeds", STYLE)
