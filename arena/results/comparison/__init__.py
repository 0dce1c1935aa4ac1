"""Compare runs: means, intervals, paired tests, what they cost, and a page to look at.

`arena.compare` makes a `Comparison`; the functions here turn it into text, Markdown, LaTeX, JSON
and HTML. See docs/comparing.md.
"""

from arena.results.comparison._comparing import CORRECTIONS, TESTS, compare
from arena.results.comparison._outputs import as_json, as_latex, as_markdown, as_text
from arena.results.comparison._page import as_html, write_html
from arena.results.comparison.model import (
    ComparedRun,
    Comparison,
    Difference,
    Effort,
    Episode,
    Estimate,
    MetricComparison,
    ModelUse,
    Query,
)

__all__ = [
    "CORRECTIONS",
    "TESTS",
    "ComparedRun",
    "Comparison",
    "Difference",
    "Effort",
    "Episode",
    "Estimate",
    "MetricComparison",
    "ModelUse",
    "Query",
    "as_html",
    "as_json",
    "as_latex",
    "as_markdown",
    "as_text",
    "compare",
    "write_html",
]
