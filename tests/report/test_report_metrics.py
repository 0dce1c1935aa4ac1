"""Metrics of reports against counts by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.metrics import METRICS, ScoreContext
from arena.metrics import evaluate as score
from arena.report import Reference, Report, ReportSection, Statement
from arena.report.metrics import ReportGold, cited_works
from arena.tasks._task_set import PaperFacts

# Cited: a and its second entry (one work), b, late, self, other, gone, and a made-up one: seven
# works. "unused" stands in the bibliography alone.
REFERENCES = (
    Reference("1", paper="a"),
    Reference("2", paper="a"),
    Reference("3", paper="b"),
    Reference("4", paper="late"),
    Reference("5", paper="me"),
    Reference("6", paper="other"),
    Reference("7", paper="undated"),
    Reference("8"),
    Reference("9", paper="unused"),
)
STATEMENTS = (
    Statement("One.", 0, ("1", "2")),
    Statement("Two.", 0, ("3", "4", "5")),
    Statement("Three.", 0),
    Statement("Four.", 0, ("1", "6", "7", "8")),
    Statement("Five.", 0),
)
REPORT = Report("T", (ReportSection("H", 1, ""),), STATEMENTS, REFERENCES, ("numbers",))
GOLD = ReportGold(
    {"a": 2, "b": 1, "unused": 1, "c": 1, "no": 0},
    {
        "a": "reachable", "b": "reachable", "late": "late", "me": "itself", "other": "survey",
        "undated": "undated", "unused": "reachable",
    },
)  # fmt: skip
SEEN = ScoreContext(seen=frozenset({"a", "other"}))
EMPTY = Report("")
NAMES = [
    name
    for name in METRICS.names()
    if METRICS.get(name).kind == "report" and "corpus" not in METRICS.get(name).needs
]


def evaluate(report, gold, names, context=SEEN):
    """Return the scores of the metrics that have something to count."""
    scores = score(report, gold, names, context)
    return {name: value for name, value in scores.items() if value is not None}


def test_every_metric_by_hand():
    scores = evaluate(REPORT, GOLD, NAMES)
    assert scores == {
        "reference_precision": 2 / 7,  # a and b of seven
        "reference_recall": 2 / 4,  # of a, b, unused and c
        "reference_f1": 4 / 11,
        "reference_count": 7,
        "cited_statements": 3,
        "uncited_statements": 2,
        "late_rate": 1 / 7,
        "undated_rate": 1 / 7,
        "self_rate": 1 / 7,
        "survey_rate": 1 / 7,
        "fabricated_rate": 1 / 7,
        "unresolved_count": 1,
        "unseen_rate": 4 / 7,  # b, late, me and undated; the made-up one does not exist
    }
    precision, recall = scores["reference_precision"], scores["reference_recall"]
    assert scores["reference_f1"] == pytest.approx(2 * precision * recall / (precision + recall))


class Citations(dict):
    """Stands for a task set that knows how often papers are cited."""

    def facts(self, survey, papers):
        return {paper: PaperFacts("", citations=self[paper]) for paper in papers}


def test_importance_by_hand():
    counts = dict.fromkeys(["late", "me", "other", "undated"], 0)
    cited = Citations(counts | {"a": 6, "b": 3, "unused": 10, "c": 8})

    def importance(report, cited):
        return score(report, GOLD, ["document_importance"], ScoreContext(tasks=cited))

    # cited: 6 3 0 0 0 0, the made-up work has no count; gold: 6 3 10 8
    assert importance(REPORT, cited) == {"document_importance": 0 / 7}
    assert importance(REPORT, Citations(cited, late=2, me=1)) == {"document_importance": 1.5 / 7}
    assert importance(REPORT, Citations(cited, late=9, me=9, other=9)) == {"document_importance": 1}
    assert importance(EMPTY, cited) == {"document_importance": 0}
    for unknown in (0, None):
        assert importance(REPORT, Citations(dict.fromkeys(cited, unknown))) == {
            "document_importance": None
        }


def test_an_empty_report_has_no_rates():
    scores = evaluate(EMPTY, GOLD, NAMES)
    assert scores == dict.fromkeys(
        [
            "cited_statements", "reference_count", "reference_f1", "reference_precision",
            "reference_recall", "uncited_statements", "unresolved_count",
        ],
        0,
    )  # fmt: skip


def test_what_is_unknown_is_left_out():
    without = ReportGold({}, GOLD.standing)
    names = ["reference_f1", "unseen_rate", "late_rate"]
    scores = evaluate(REPORT, without, names, ScoreContext())
    assert scores == {"late_rate": 1 / 7}


def test_an_id_that_the_corpus_lacks_is_fabricated():
    report = Report("", (), (Statement("S.", 0, ("x",)),), (Reference("x", paper="x"),))
    assert evaluate(report, GOLD, ["fabricated_rate", "unresolved_count"]) == {
        "fabricated_rate": 1, "unresolved_count": 1
    }  # fmt: skip


def test_works_are_told_apart():
    papers = {name: name for name in ("a", "b", "late", "me", "other", "undated")}
    assert cited_works(REPORT) == {**papers, "8": None}
    references = (
        Reference("1", title="Deep Nets"),
        Reference("2", title="deep nets."),
        Reference("3", title="Deep Nets", ids=("arxiv:1706.03762", "doi:10.1/x")),
        Reference("4", ids=("arxiv:1706.03762",)),
        Reference("5"),
    )
    report = Report("", (), (Statement("S.", 0, tuple("12345")),), references)
    assert cited_works(report) == {"deepnets": None, "arxiv:1706.03762": None, "5": None}


@given(
    st.lists(st.sampled_from([*GOLD.standing, "c", None]), max_size=12),
    st.integers(0, 12),
)
def test_properties(papers, cited):
    references = tuple(Reference(str(i), paper=paper) for i, paper in enumerate(papers))
    cited = min(cited, len(papers))
    report = Report("", (), (Statement("S.", 0, tuple(map(str, range(cited)))),), references)
    scores = evaluate(report, GOLD, NAMES)
    assert scores["reference_count"] <= cited
    assert all(0 <= scores[name] <= 1 for name in scores if name.endswith(("_rate", "_f1")))
    standings = ["late", "undated", "self", "survey", "fabricated"]
    assert sum(scores.get(f"{name}_rate", 0) for name in standings) <= 1 + 1e-12
    assert scores["reference_precision"] * scores["reference_count"] == pytest.approx(
        4 * scores["reference_recall"]
    )
