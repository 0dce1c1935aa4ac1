"""Compare runs: means, intervals, paired tests, what they cost, and a page to look at.

`arena.compare` makes a `Comparison`; the functions here turn it into text, Markdown, LaTeX, CSV
and JSON, `arena.results.viewing.as_page` into a page. See docs/comparing.md.
"""

from arena.results.comparison.comparing import Comparison, compare, split_by_day
from arena.results.comparison.opening import usage_of
from arena.results.comparison.papers import as_latex, part_of, write_paper
from arena.results.comparison.report import (
    as_csv,
    as_json,
    as_markdown,
    as_text,
    verdict,
)

__all__ = [
    "Comparison", "as_csv", "as_json", "as_latex", "as_markdown", "as_text", "compare", "part_of",
    "split_by_day", "usage_of", "verdict", "write_paper",
]  # fmt: skip
