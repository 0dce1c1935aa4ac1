"""Metrics of reports; each module here holds a family.

To add one, add a module to this package:

    @REPORT_METRICS.register("headings")
    def headings(report, gold): ...

or declare an entry point of the group ``researcharena.report_metrics``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from typing import TYPE_CHECKING, NamedTuple

from arena.errors import DataError, clip
from arena.registry import Registry
from arena.report.model import Report
from arena.text.identifiers import normal_title

if TYPE_CHECKING:
    from arena.suites.bloom_eval import Pair


class ReportGold(NamedTuple):
    """What a report is scored against.

    Attributes:
        gains: Id of each reference of the survey in reach -> 2 if it is influential, else 1.
        standing: Id of each paper that exists -> ``"reachable"``, or why no report may cite it:
            ``"itself"`` (the survey), ``"late"`` (dated on or after the cutoff), ``"undated"``,
            or ``"survey"`` (another survey); the first of these that holds. The ids that the
            report cites are enough.
        seen: Ids of the papers that the episode showed; None if unknown.
        pair: Returns the report beside X
            every call; None for a survey without one.
    """

    gains: Mapping[str, int]
    standing: Mapping[str, str]
    seen: Set[str] | None = None
    pair: Callable[[Report], Pair | None] | None = None


ReportMetric = Callable[[Report, ReportGold], float | None]
"""A score of one report; None where the report or the gold has nothing that the metric counts."""

REPORT_METRICS: Registry[ReportMetric] = Registry(
    "report metric",
    packages=["arena.report.metrics", "arena.suites.bloom_eval.metrics"],
    entry_points="researcharena.report_metrics",
)


def evaluate(report: Report, gold: ReportGold, names: Iterable[str]) -> dict[str, float]:
    """Score one report.

    Args:
        report: A report whose references are resolved (`arena.report.resolve`).
        gold: What it is scored against.
        names: Names of metrics.

    Returns:
        Score by name, in the order of `names`; without the metrics that have nothing to count.

    Raises:
        UnknownNameError: There is no such metric.
        DataError: `names` is one string.
    """
    if isinstance(names, str):
        raise DataError(f"metric names {clip(names)}: expected a list of names, not one string.")
    scores = {name: REPORT_METRICS.get(name)(report, gold) for name in names}
    return {name: score for name, score in scores.items() if score is not None}


def cited_works(report: Report) -> dict[str, str | None]:
    """Return the distinct works that statements cite, in order of their first citation.

    Returns:
        A name of the work -> id of its paper in the corpus, or None while it is unresolved.
        References of one paper are one work, and so are unresolved ones with one identifier, or
        else one title.
    """
    works = {}
    for reference in report.cited:
        name = reference.paper or next(iter(reference.ids), "") or normal_title(reference.title)
        works[name or reference.key] = reference.paper
    return works
