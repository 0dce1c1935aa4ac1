"""How often the cited works are cited, beside the references of the survey."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from arena.metrics import ScoreContext, metric
from arena.report.metrics import ReportGold, cited_works
from arena.report.model import Report


@metric("document_importance", "report", needs=["corpus"])
def document_importance(report: Report, gold: ReportGold, context: ScoreContext) -> float | None:
    """Median citations of the cited works over that of the gold references, at most 1.

    The formula is that of DeepScholar-Bench's released code. It asks OpenAlex for the citations of
    today; here papers of the corpus count that cite a work before the cutoff. A work that the
    corpus lacks is left out; 0 if it lacks all. None without citation links, and where the median
    of the gold is 0, for which the released code has 0.
    """
    wanted = _median((paper for paper, gain in gold.gains.items() if gain), context)
    found = _median(filter(None, cited_works(report).values()), context)
    return min((found or 0.0) / wanted, 1.0) if wanted else None


def _median(papers: Iterable[str], context: ScoreContext) -> float | None:
    facts = context.tasks.facts(context.survey, papers) if context.tasks else {}
    counts = [each.citations for each in facts.values() if each.citations is not None]
    return median(counts) if counts else None
