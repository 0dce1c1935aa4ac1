"""A comparison as text, Markdown, LaTeX and JSON."""

from __future__ import annotations

import dataclasses
from typing import Any

from arena._internal import tables as tabular
from arena.results.comparison._report import remarks, tables
from arena.results.comparison._statistics import PERMUTATIONS, RESAMPLES
from arena.results.comparison.model import Comparison, MetricComparison


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
    told = "\n".join(f"- {tabular.escape_markdown(_line(r))}" for r in remarks(comparison))
    return "\n\n".join([*parts, told]) + "\n"


def as_latex(comparison: Comparison) -> str:
    """Return the tables for LaTeX with booktabs; what a reader must know stands as comments."""
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
    told = "\n".join(f"% {_line(remark)}" for remark in remarks(comparison))
    return "\n\n".join([*parts, told]) + "\n"


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
