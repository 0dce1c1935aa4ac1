"""How many cited works are references of the survey, how many of these are cited; statements.

Source: ReportBench, section 3.2 ("Reference", and "Count" without a model). A work counts once,
however often it is cited, and only if a statement cites it: an entry of the bibliography alone is
no citation.
"""

from __future__ import annotations

from arena.report.metrics import REPORT_METRICS, ReportGold, cited_works
from arena.report.model import Report


@REPORT_METRICS.register("reference_precision")
def reference_precision(report: Report, gold: ReportGold) -> float | None:
    """Share of the distinct cited works that are gold references, in [0, 1].

    Unresolved works count as wrong. 0 for a report without citations; None without gold.
    """
    hits, cited, wanted = _counts(report, gold)
    return None if not wanted else hits / cited if cited else 0.0


@REPORT_METRICS.register("reference_recall")
def reference_recall(report: Report, gold: ReportGold) -> float | None:
    """Share of the gold references that are cited, in [0, 1]; None without gold."""
    hits, _, wanted = _counts(report, gold)
    return hits / wanted if wanted else None


@REPORT_METRICS.register("reference_f1")
def reference_f1(report: Report, gold: ReportGold) -> float | None:
    """Harmonic mean of `reference_precision` and `reference_recall`, in [0, 1]; None without gold.

    Equals 2 hits / (cited works + gold references).
    """
    hits, cited, wanted = _counts(report, gold)
    return 2 * hits / (cited + wanted) if wanted else None


@REPORT_METRICS.register("reference_count")
def reference_count(report: Report, gold: ReportGold) -> float:
    """Number of distinct cited works, resolved or not."""
    return float(len(cited_works(report)))


@REPORT_METRICS.register("cited_statements")
def cited_statements(report: Report, gold: ReportGold) -> float:
    """Number of sentences with at least one citation, resolved or not."""
    return float(sum(bool(statement.citations) for statement in report.statements))


@REPORT_METRICS.register("uncited_statements")
def uncited_statements(report: Report, gold: ReportGold) -> float:
    """Number of sentences without a citation."""
    return float(sum(not statement.citations for statement in report.statements))


def _counts(report: Report, gold: ReportGold) -> tuple[int, int, int]:
    cited = cited_works(report).values()
    hits = sum(paper is not None and gold.gains.get(paper, 0) > 0 for paper in cited)
    return hits, len(cited), sum(gain > 0 for gain in gold.gains.values())
