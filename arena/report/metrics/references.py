"""Cited works: which are references of the survey, which may not be cited; statements.

Source: ReportBench, section 3.2 ("Reference", and "Count" without a model). A work counts once,
however often it is cited, and only if a statement cites it: an entry of the bibliography alone is
no citation.

The rates are of citations that the prompts of ReportBench forbid, as shares of the distinct cited
works. Each lies in [0, 1], and 0 is best; None for a report without citations, which would be
flattered by 0. The standings of `ReportGold` exclude each other, so the shares of late, undated,
survey, own and fabricated citations add up to at most 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from arena.metrics import ScoreContext, metric
from arena.report.metrics import ReportGold, cited_works
from arena.report.model import Report


@metric("reference_precision", "report")
def reference_precision(report: Report, gold: ReportGold, context: ScoreContext) -> float | None:
    """Share of the distinct cited works that are gold references, in [0, 1].

    Unresolved works count as wrong. 0 for a report without citations; None without gold.

    Paper: ReportBench, sections 2.2 and 3.2: titles that a model reads from the cited pages,
        against those of the bibliography.
    Released: titles in lower case without ASCII punctuation, exact; a report without a reference is
        left out of the mean.
    Here: joined by identifier, then by title; a report without a reference scores 0.
    """
    hits, cited, wanted = _counts(report, gold)
    return None if not wanted else hits / cited if cited else 0.0


@metric("reference_recall", "report")
def reference_recall(report: Report, gold: ReportGold, context: ScoreContext) -> float | None:
    """Share of the gold references that are cited, in [0, 1]; None without gold.

    Paper: ReportBench, section 3.2.
    Released: over distinct titles of the bibliography: two titles of one work are two.
    Here: over distinct works.
    """
    hits, _, wanted = _counts(report, gold)
    return hits / wanted if wanted else None


@metric("reference_f1", "report")
def reference_f1(report: Report, gold: ReportGold, context: ScoreContext) -> float | None:
    """Harmonic mean of `reference_precision` and `reference_recall`, in [0, 1]; None without gold.

    Equals 2 hits / (cited works + gold references).

    Paper: none.
    Released: the harmonic mean, of each survey.
    Here: that of each survey; the mean over surveys is macro, ``micro`` beside it.
    """
    hits, cited, wanted = _counts(report, gold)
    return 2 * hits / (cited + wanted) if wanted else None


@metric("reference_count", "report", lower_is_better=None)
def reference_count(report: Report, gold: ReportGold, context: ScoreContext) -> float:
    """Number of distinct cited works, resolved or not.

    Paper: ReportBench, Table 1, "Ref Num", the mean number of references of a report.
    Released: distinct titles of pages that are papers.
    Here: distinct works that a sentence cites, dead links among them.
    """
    return float(len(cited_works(report)))


@metric("cited_statements", "report", lower_is_better=None)
def cited_statements(report: Report, gold: ReportGold, context: ScoreContext) -> float:
    """Number of sentences with at least one citation, resolved or not."""
    return float(sum(bool(statement.citations) for statement in report.statements))


@metric("uncited_statements", "report", lower_is_better=None)
def uncited_statements(report: Report, gold: ReportGold, context: ScoreContext) -> float:
    """Number of sentences without a citation."""
    return float(sum(not statement.citations for statement in report.statements))


def _counts(report: Report, gold: ReportGold) -> tuple[int, int, int]:
    cited = cited_works(report).values()
    hits = sum(paper is not None and gold.gains.get(paper, 0) > 0 for paper in cited)
    return hits, len(cited), sum(gain > 0 for gain in gold.gains.values())


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
    facts = context.tasks.facts(context.topic_id, papers) if context.tasks else {}
    counts = [each.citations for each in facts.values() if each.citations is not None]
    return median(counts) if counts else None


@metric("late_rate", "report", lower_is_better=True)
def late_rate(report: Report, gold: ReportGold, context: ScoreContext) -> float | None:
    """Share of the cited works that are dated on or after the cutoff."""
    return _share(report, gold, "late")


@metric("undated_rate", "report", lower_is_better=True)
def undated_rate(report: Report, gold: ReportGold, context: ScoreContext) -> float | None:
    """Share of the cited works that have no date, so that nobody can say if they are late."""
    return _share(report, gold, "undated")


@metric("self_rate", "report", lower_is_better=True)
def self_rate(report: Report, gold: ReportGold, context: ScoreContext) -> float | None:
    """Share of the cited works that are the survey itself: 1 / number if it is cited."""
    return _share(report, gold, "itself")


@metric("survey_rate", "report", lower_is_better=True)
def survey_rate(report: Report, gold: ReportGold, context: ScoreContext) -> float | None:
    """Share of the cited works that are other surveys, dated before the cutoff."""
    return _share(report, gold, "survey")


@metric("fabricated_rate", "report", lower_is_better=True)
def fabricated_rate(report: Report, gold: ReportGold, context: ScoreContext) -> float | None:
    """Share of the cited works that no paper of the corpus is.

    In an episode such a work is made up: the agent saw it nowhere. In a report from outside it may
    be a work that the corpus lacks.
    """
    return _share(report, gold, None)


@metric("unresolved_count", "report", lower_is_better=True)
def unresolved_count(report: Report, gold: ReportGold, context: ScoreContext) -> float:
    """Number of distinct cited works that no paper of the corpus is."""
    return float(sum(_standing(paper, gold) is None for paper in cited_works(report).values()))


@metric("unseen_rate", "report", lower_is_better=True)
def unseen_rate(report: Report, gold: ReportGold, context: ScoreContext) -> float | None:
    """Share of the cited works that exist in the corpus, and that the episode never showed.

    None also where it is unknown what the episode showed.
    """
    cited = cited_works(report).values()
    if not cited or context.seen is None:
        return None
    exist = (paper for paper in cited if _standing(paper, gold) is not None)
    return sum(paper not in context.seen for paper in exist) / len(cited)


def _share(report: Report, gold: ReportGold, standing: str | None) -> float | None:
    cited = cited_works(report).values()
    found = sum(_standing(paper, gold) == standing for paper in cited)
    return found / len(cited) if cited else None


def _standing(paper: str | None, gold: ReportGold) -> str | None:
    return None if paper is None else gold.standing.get(paper)
