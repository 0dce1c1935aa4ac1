"""High-Impact Reference Coverage: which titles are the same, and what is counted."""

from __future__ import annotations

import pytest

from arena.report import Report
from arena_suites.bloom_eval import Article, SurveyPair, Work, compare
from arena_suites.bloom_eval.base import Finding
from arena_suites.bloom_eval.metrics.citations import title_ratio


def survey(*works: Work) -> Article:
    return Article("T", "", (), works, Report("T"))


def score(human: Article, generated: Article) -> Finding:
    finding: Finding = compare(SurveyPair(human, generated), ["hirc"])["hirc"]["finding"]
    return finding


EXPERTS = survey(
    Work("Attention is all you need", citations=90_000),
    Work("Deep residual learning", citations=51),
    Work("A book", citations=900, paper="p1"),
    Work("Just below", citations=50),
    Work("Unknown"),
)


def test_each_reference_takes_the_most_similar_free_title() -> None:
    generated = survey(
        Work("Attention Is All You Need."),
        Work("attention is all you need"),  # taken already
        Work("Another title", paper="p1"),
        Work(""),
        Work("Just below"),
    )
    finding = score(EXPERTS, generated)
    # two of five references are two of the three works: 2 x 2 / (3 + 5)
    assert finding.scores == {"f1": 0.5, "precision": 0.4, "recall": pytest.approx(2 / 3)}
    assert [row[2] for row in finding.rows] == ["found", "missed", "found"]
    assert finding.rows[0][3] == "Attention Is All You Need."


# thefuzz 0.22.1 gives these numbers
@pytest.mark.parametrize(
    ("a", "b", "ratio"),
    [
        ("Many-shot incontext learning", "Many-Shot In-Context Learning", 98),
        ("abcdefghij", "abcdefghi", 95),
        ("abcdefghij", "jabcdefghi", 90),
        ("abcdefghij", "abcdefghXY", 80),
        ("Topological insulators", "Topological Insulators", 100),
        ("abc", "abcdefgh", 0),  # 55 there: too far in length to matter
    ],
)
def test_ratio_of_titles(a: str, b: str, ratio: int) -> None:
    assert title_ratio(a, b) == title_ratio(b, a) == ratio


def test_without_known_citations_there_is_no_score() -> None:
    finding = score(survey(Work("A"), Work("B")), EXPERTS)
    assert set(finding.scores.values()) == {None} and "unknown" in finding.reason
    finding = score(survey(Work("A", citations=3)), EXPERTS)
    assert set(finding.scores.values()) == {None} and "more than 50" in finding.reason


def test_a_survey_without_references_covers_nothing() -> None:
    assert score(EXPERTS, survey()).scores == {"f1": 0.0, "precision": 0.0, "recall": 0.0}
