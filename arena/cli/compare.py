"""``arena compare``."""

from __future__ import annotations

import sys
from typing import Literal

from arena.cli.app import print_json
from arena.errors import DataError


def compare(
    runs: list[str],
    *,
    baseline: str | None = None,
    all_pairs: bool = False,
    metric: list[str] | None = None,
    test: str = "fisher",
    correction: str = "holm",
    level: float = 0.95,
    format: Literal["text", "markdown", "latex", "json"] = "text",
    html: str | None = None,
    corpus: str | None = None,
    tasks: str | None = None,
    json: bool = False,
) -> None:
    r"""Compare runs: means, intervals, paired tests, cost, and a page to look at.

    Args:
        runs (RUN): Directory of a finished run, or NAME=DIR.
        baseline (NAME): Run, by name or directory, to compare the others with (default: the first).
        all_pairs: Compare every run with every other.
        metric (NAME): One of the runs' metrics (default: all).
        test (NAME): Fisher (randomization) or student (paired t).
        correction (NAME): Correction of p for the number of comparisons: holm, bonferroni or none.
        level (X): Confidence level of the intervals.
        format: Format of the printed comparison.
        html (FILE): Write one page with everything, labels too.
        corpus (DIR): Corpus that arena-corpus built, for the titles on the page.

    Example:
        arena compare demo/runs/discovery-title-bm25 demo/runs/discovery-title-dense \
            --html compared.html --corpus demo/world
    """
    from arena.corpus import Corpus
    from arena.results import comparison

    if tasks is not None and corpus is None:
        raise DataError("--tasks is a task set of a corpus: name it with --corpus.")
    if corpus is not None and html is None:
        raise DataError("--corpus gives the page its titles: name the page with --html.")
    if json and format not in ("text", "json"):
        raise DataError(f"--json and --format {format} contradict each other: give one.")
    compared = comparison.compare(runs, baseline, metric, test, correction, level, all_pairs)
    if html is not None:
        opened = None if corpus is None else Corpus.open(corpus, tasks=tasks)
        comparison.write_html(compared, html, opened)
    if json or format == "json":
        print_json(comparison.as_json(compared))
    else:
        sys.stdout.write(getattr(comparison, f"as_{format}")(compared))
