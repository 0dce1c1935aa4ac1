"""Compare runs: means, intervals, paired tests, what they cost, and a page to look at.

`arena.compare` makes a `Comparison`; the functions here turn it into text, Markdown, LaTeX, JSON
and HTML. See docs/comparing.md.
"""

from arena.results.comparison.comparing import CORRECTIONS, TESTS, compare
from arena.results.comparison.model import (
    ComparedRun,
    Comparison,
    Effort,
    Estimate,
    MetricComparison,
    ModelUse,
    PairedDifference,
    PlayedEpisode,
    Query,
)
from arena.results.comparison.page import as_html, write_html
from arena.results.comparison.report import as_json, as_latex, as_markdown, as_text

__all__ = [
    "CORRECTIONS",
    "TESTS",
    "ComparedRun",
    "Comparison",
    "Effort",
    "Estimate",
    "MetricComparison",
    "ModelUse",
    "PairedDifference",
    "PlayedEpisode",
    "Query",
    "as_html",
    "as_json",
    "as_latex",
    "as_markdown",
    "as_text",
    "compare",
    "write_html",
]
