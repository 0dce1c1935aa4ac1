"""Citations that the prompts of ReportBench forbid, as shares of the distinct cited works.

Each share lies in [0, 1], and 0 is best; None for a report without citations, which would be
flattered by 0. The standings of `ReportGold` exclude each other, so the shares of late,
undated, survey, own and fabricated citations add up to at most 1.
"""

from __future__ import annotations

from arena.report.metrics import REPORT_METRICS, ReportGold, cited_works
from arena.report.model import Report


@REPORT_METRICS.register("late_rate")
def late_rate(report: Report, gold: ReportGold) -> float | None:
    """Share of the cited works that are dated on or after the cutoff."""
    return _share(report, gold, "late")


@REPORT_METRICS.register("undated_rate")
def undated_rate(report: Report, gold: ReportGold) -> float | None:
    """Share of the cited works that have no date, so that nobody can say if they are late."""
    return _share(report, gold, "undated")


@REPORT_METRICS.register("self_rate")
def self_rate(report: Report, gold: ReportGold) -> float | None:
    """Share of the cited works that are the survey itself: 1 / number if it is cited."""
    return _share(report, gold, "itself")


@REPORT_METRICS.register("survey_rate")
def survey_rate(report: Report, gold: ReportGold) -> float | None:
    """Share of the cited works that are other surveys, dated before the cutoff."""
    return _share(report, gold, "survey")


@REPORT_METRICS.register("fabricated_rate")
def fabricated_rate(report: Report, gold: ReportGold) -> float | None:
    """Share of the cited works that no paper of the corpus is.

    In an episode such a work is made up: the agent saw it nowhere. In a report from outside it may
    be a work that the corpus lacks.
    """
    return _share(report, gold, None)


@REPORT_METRICS.register("unresolved_count")
def unresolved_count(report: Report, gold: ReportGold) -> float:
    """Number of distinct cited works that no paper of the corpus is."""
    return float(sum(_standing(paper, gold) is None for paper in cited_works(report).values()))


@REPORT_METRICS.register("unseen_rate")
def unseen_rate(report: Report, gold: ReportGold) -> float | None:
    """Share of the cited works that exist in the corpus, and that the episode never showed.

    None also where it is unknown what the episode showed.
    """
    cited = cited_works(report).values()
    if not cited or gold.seen is None:
        return None
    exist = (paper for paper in cited if _standing(paper, gold) is not None)
    return sum(paper not in gold.seen for paper in exist) / len(cited)


def _share(report: Report, gold: ReportGold, standing: str | None) -> float | None:
    cited = cited_works(report).values()
    found = sum(_standing(paper, gold) == standing for paper in cited)
    return found / len(cited) if cited else None


def _standing(paper: str | None, gold: ReportGold) -> str | None:
    return None if paper is None else gold.standing.get(paper)
