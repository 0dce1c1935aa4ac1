"""What is reported: the paired test, the table, and the picture of the learning curve."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Recalls = Mapping[str, float]
"""Survey -> recall@100."""

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


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


def describe(test: Mapping[str, Any]) -> str:
    """Return a comparison in words."""
    p = f"p = {test['p']:.2g}" if test["p"] >= 1e-4 else f"p = {test['p']:.0e}"
    return (
        f"{test['mean_difference']:+.4f} a survey, better on {test['better']}, worse on "
        f"{test['worse']} of {test['n']}, {p}"
    )


def svg(curves: Mapping[str, Sequence[tuple[int, float]]], levels: Mapping[str, float]) -> str:
    """Return an SVG of learning curves with levels to compare with.

    Args:
        curves: name -> (episodes, mean recall@100), in order.
        levels: name -> mean recall@100 of an agent that does not learn.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "arena", "svg.fonttype": "none", "font.size": 10}):
        figure = Figure(figsize=(7.5, 4.2), layout="constrained")
        FigureCanvasSVG(figure)
        axes = figure.subplots()
        for (name, curve), colour, marker in zip(curves.items(), _COLOURS, "osD^vP", strict=False):
            episodes, recall = zip(*curve, strict=True)
            axes.plot(
                episodes, recall, color=colour, marker=marker, markersize=4, label=name, zorder=3
            )
        last = max(curve[-1][0] for curve in curves.values())
        for name, level in levels.items():
            axes.axhline(level, color="#555555", linestyle="--", linewidth=1)
            axes.annotate(
                f"{name} {level:.3f}", (last, level), xytext=(0, 3), textcoords="offset points",
                ha="right", fontsize=9,
            )  # fmt: skip
        axes.set_xlabel("training episodes")
        axes.set_ylabel("mean recall@100 on unseen worlds")
        axes.set_ylim(0, 1.06)
        axes.legend(loc="upper left", bbox_to_anchor=(0.0, 0.93), frameon=False)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        stream = io.StringIO()
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines()) + "\n"
