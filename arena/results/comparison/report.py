"""A comparison as tables, and the tables as text, Markdown, LaTeX and JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from arena._internal import tables as tabular
from arena.results.comparison.model import Comparison, Estimate, MetricComparison, PairedDifference
from arena.results.comparison.statistics import PERMUTATIONS, RESAMPLES

ORACLE = "oracle"
"""The agent that knows the labels: its values are never the best of a column."""
_MOST_COLUMNS = 6
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
TEST_NAMES = {
    "fisher": "Fisher's randomization test",
    "student": "Student's paired t-test",
}
CORRECTION_NAMES = {
    "holm": "corrected by Holm for all comparisons by one metric",
    "bonferroni": "corrected by Bonferroni for all comparisons by one metric",
    "none": "not corrected",
}


@dataclass(frozen=True)
class Table:
    """A table before it is text.

    Attributes:
        title: Its caption.
        key: Its name, for labels and anchors.
        header: Names of the columns.
        rows: Cells: text, numbers, None for what is unknown or undefined.
        align: ``l`` or ``r`` for each column.
        bold: (row, column) of the best values.
        decimals: Decimals of a float.
    """

    title: str
    key: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    align: str
    bold: frozenset[tuple[int, int]] = field(default=frozenset())
    decimals: int = 4


def tables(comparison: Comparison) -> list[Table]:
    """Return all tables of a comparison."""
    listed = [means(comparison)]
    if len(comparison.runs) > 1 or len(comparison.metrics) <= _MOST_COLUMNS:
        listed += [by_metric(comparison, metric) for metric in comparison.metrics]
    if comparison.baseline is None and len(comparison.runs) > 1:
        listed += [pairs(comparison, metric) for metric in comparison.metrics if metric.surveys]
    listed += [searches(comparison)] if comparison.curves else []
    return [*listed, effort(comparison)]


def means(comparison: Comparison) -> Table:
    """Return the means of all runs by all metrics, with the ceiling."""
    metrics = comparison.metrics
    rows: list[list[Any]] = [
        [name, *(_mean(metric, name) for metric in metrics)] for name in comparison.names
    ]
    ceiling: list[Any] = ["ceiling", *(metric.ceiling for metric in metrics)]
    title = f"{comparison.task}: means"
    by_name = {run.name: run.manifest["agent"] for run in comparison.runs}
    fair = [
        row if by_name[row[0]] != ORACLE else [None] * len(row) for row in rows
    ]  # so that the place of a row stays its number
    lowest = [1 + i for i, metric in enumerate(metrics) if metric.lower_is_better]
    best = tabular.best(fair, range(1, len(metrics) + 1), lowest) if len(rows) > 1 else set()
    if len(metrics) <= _MOST_COLUMNS:
        header = [comparison.task, *(metric.metric for metric in metrics)]
        align = "l" + "r" * len(metrics)
        return Table(title, "means", header, [*rows, ceiling], align, frozenset(best))
    turned = [list(row) for row in zip(*[[m.metric for m in metrics]], strict=True)]
    turned = [[*row, *(r[i + 1] for r in [*rows, ceiling])] for i, row in enumerate(turned)]
    header = [comparison.task, *comparison.names, "ceiling"]
    bold = frozenset((column - 1, row + 1) for row, column in best)
    return Table(title, "means", header, turned, "l" + "r" * (len(rows) + 1), bold)


def by_metric(comparison: Comparison, metric: MetricComparison) -> Table:
    """Return one metric with intervals and, against a baseline, the tests."""
    percent = f"{comparison.level * 100:g} % interval"
    title = f"{metric.metric}, over {len(metric.surveys)} surveys"
    title += "; less is better" if metric.lower_is_better else ""
    rows: list[list[Any]] = []
    tested = {difference.run: difference for difference in metric.differences}
    against = comparison.baseline if len(comparison.runs) > 1 else None
    for name in comparison.names:
        mean = metric.means.get(name)
        shown = f"{name} (baseline)" if name == against else name
        row = [shown, None if mean is None else mean.mean, interval(mean)]
        if against is not None:
            row += _tested(tested[name]) if name in tested else [None] * 7
        rows.append(row)
    header = [metric.metric, "mean", percent]
    align = "lrr"
    if against is not None:
        header += ["difference", percent, "p", _p(comparison), "won", "tied", "lost"]
        align += "r" * 7
    return Table(title, metric.metric, header, rows, align)


def pairs(comparison: Comparison, metric: MetricComparison) -> Table:
    """Return the tests of all pairs by one metric."""
    percent = f"{comparison.level * 100:g} % interval"
    header = [metric.metric, "difference", percent, "p", _p(comparison), "won", "tied", "lost"]
    rows = [[f"{d.run} - {d.against}", *_tested(d)] for d in metric.differences]
    return Table(
        f"{metric.metric}: all pairs", f"{metric.metric}-pairs", header, rows, "l" + "r" * 7
    )


def searches(comparison: Comparison) -> Table:
    """Return the share of the references that were shown after so many searches."""
    longest = max(map(len, comparison.curves.values())) - 1
    steps = [n for n in _STEPS if n < longest] + ([longest] if longest else [])
    rows = [
        [name, *(curve[min(n, len(curve) - 1)] for n in steps)]
        for name, curve in comparison.curves.items()
    ]
    return Table(
        "Share of the references in reach that were shown after so many searches",
        "searches",
        ["searches", *map(str, steps)],
        rows,
        "l" + "r" * len(steps),
    )


def effort(comparison: Comparison) -> Table:
    """Return what each run cost."""
    header = [
        "all episodes", "searches", "reads", "characters", "steps", "failed", "cut off",
    ]  # fmt: skip
    rows: list[list[Any]] = [
        [name, *map(count, (e.searches, e.reads, e.characters, e.steps, e.errors, e.truncated))]
        for name, e in comparison.efforts.items()
    ]
    if uses_models(comparison):
        header += ["calls", "tokens in", "tokens out", "dollars", "unreadable"]
        for row, e in zip(rows, comparison.efforts.values(), strict=True):
            row += map(count, (e.calls, e.prompt_tokens, e.completion_tokens))
            row += [e.dollars, count(e.failed)]
    number = len(comparison.surveys)
    title = f"What the {number} episode{'s' * (number != 1)} of each run took"
    return Table(title, "effort", header, rows, "l" + "r" * (len(header) - 1))


def uses_models(comparison: Comparison) -> bool:
    """Return whether any episode of any run notes a language model."""
    episodes = (episode for run in comparison.runs for episode in run.episodes.values())
    return any(episode.use is not None for episode in episodes)


def remarks(comparison: Comparison) -> list[str]:
    """Return remarks for a reader of the tables."""
    scored = max(run.metrics["counts"]["scored"] for run in comparison.runs)
    sentences = [
        f"Over {scored} of {len(comparison.surveys)} surveys; the others lack labels."
        if scored < len(comparison.surveys)
        else f"Over {scored} surveys."
    ]
    if len(comparison.runs) == 1:
        sentences.append(
            "One run has nothing to be compared with: name two or more for differences and tests."
        )
    else:
        whom = "of all pairs" if comparison.baseline is None else f"from {comparison.baseline}"
        sentences.append(
            f"Differences {whom}; two-sided p of {TEST_NAMES[comparison.test]}, "
            f"{CORRECTION_NAMES[comparison.correction]}; * where that is at most "
            f"{1 - comparison.level:.4g}."
        )
    if any(run.manifest["agent"] == ORACLE for run in comparison.runs):
        sentences.append("The agent oracle knows the labels.")
    sentences += [
        f"No share after so many searches for {name}: {why}."
        for name, why in comparison.without_curve.items()
    ]
    return [*sentences, *comparison.notes]


def interval(value: Estimate | PairedDifference | None) -> str | None:
    """Return both ends as text, None if there are none."""
    if value is None or value.low is None or value.high is None:
        return None
    sign = "+" if isinstance(value, PairedDifference) else ""
    return f"{value.low:{sign}.4f} to {value.high:{sign}.4f}"


def count(value: int | None) -> str | None:
    """Return a number with thousands apart."""
    return None if value is None else f"{value:,}"


def probability(value: float | None) -> str | None:
    """Return p, never rounded to 0."""
    if value is None:
        return None
    return f"{value:.4f}" if value >= 0.0001 else "<0.0001"


def _tested(difference: PairedDifference) -> list[Any]:
    corrected = probability(difference.corrected)
    return [
        f"{difference.difference:+.4f}", interval(difference), probability(difference.p),
        None if corrected is None else corrected + ("*" if difference.significant else " "),
        difference.wins, difference.ties, difference.losses,
    ]  # fmt: skip


def _p(comparison: Comparison) -> str:
    correction = comparison.correction
    return f"p ({correction})" if correction != "none" else "p (not corrected)"


def _mean(metric: MetricComparison, name: str) -> float | None:
    return metric.means[name].mean if name in metric.means else None


def as_text(comparison: Comparison) -> str:
    """Return the tables for a terminal."""
    parts = []
    for table in tables(comparison):
        shown = tabular.text(table.header, table.rows, align=table.align, decimals=table.decimals)
        parts.append(f"{_line(table.title)}\n{shown}")
    return "\n\n".join([*parts, "\n".join(map(_line, remarks(comparison)))]) + "\n"


def as_markdown(comparison: Comparison) -> str:
    """Return the tables for GitHub's Markdown; the best mean of each metric is bold."""
    parts = []
    for table in tables(comparison):
        shown = tabular.markdown(
            table.header, table.rows, align=table.align, decimals=table.decimals, bold=table.bold
        )
        parts.append(f"### {tabular.escape_markdown(_line(table.title))}\n\n{shown}")
    notes = "\n".join(f"- {tabular.escape_markdown(_line(r))}" for r in remarks(comparison))
    return "\n\n".join([*parts, notes]) + "\n"


def as_latex(comparison: Comparison) -> str:
    """Return the tables for LaTeX with booktabs; the remarks are comments."""
    parts = [
        tabular.latex(
            table.header,
            table.rows,
            caption=table.title,
            label=f"tab:{table.key}",
            align=table.align,
            decimals=table.decimals,
            bold=table.bold,
        )
        for table in tables(comparison)
    ]
    notes = "\n".join(f"% {_line(remark)}" for remark in remarks(comparison))
    return "\n\n".join([*parts, notes]) + "\n"


def as_json(comparison: Comparison) -> dict[str, Any]:
    """Return everything but the episodes themselves, as JSON can hold it."""
    return {
        "task": comparison.task,
        "baseline": comparison.baseline,
        "test": comparison.test,
        "correction": comparison.correction,
        "level": comparison.level,
        "permutations": PERMUTATIONS if comparison.test == "fisher" else None,
        "resamples": RESAMPLES,
        "surveys": list(comparison.surveys),
        "runs": {
            run.name: {
                "agent": run.manifest["agent"],
                "agent_options": run.manifest.get("agent_options", {}),
                "retriever": run.manifest["environment"]["retriever"],
                "seed": run.manifest["seed"],
                "sha256": run.manifest["sha256"],
                "effort": dataclasses.asdict(comparison.efforts[run.name])
                | {"models": list(comparison.efforts[run.name].models)},
                "shown_after_searches": (
                    list(comparison.curves[run.name]) if run.name in comparison.curves else None
                ),
            }
            for run in comparison.runs
        },
        "metrics": {metric.metric: _metric(metric) for metric in comparison.metrics},
        "headline": comparison.headline,
        "notes": remarks(comparison),
    }


def _metric(metric: MetricComparison) -> dict[str, Any]:
    return {
        "lower_is_better": metric.lower_is_better,
        "surveys": len(metric.surveys),
        "ceiling": metric.ceiling,
        "means": {name: dataclasses.asdict(mean) for name, mean in metric.means.items()},
        "differences": [dataclasses.asdict(difference) for difference in metric.differences],
        "per_survey": {
            survey: {name: values[place] for name, values in metric.values.items()}
            for place, survey in enumerate(metric.surveys)
        },
    }


def _line(text: str) -> str:
    """Return a text of one line that nothing in it can end or turn around."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
