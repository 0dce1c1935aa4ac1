"""The second reading of the audit, and what it draws, by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from helpers import SURVEY, Memory

import arena.testing
from arena.errors import UnknownPaperError
from arena.testing.reference import Bm25, PlainView
from arena.testing.stored import StoredCorpus

# The second reading itself.


@pytest.fixture(scope="module")
def facts(mini) -> StoredCorpus:
    return StoredCorpus(mini)


@pytest.mark.parametrize(
    ("cutoff", "excluded", "ids"),
    [
        # conftest.py lists the papers in order.
        ("1969-12-31", (), ""),
        ("1970-01-01", (), "p:old"),
        ("2020-03-05", (), "p:old p:leap"),
        ("2020-03-06", ("p:leap", "nowhere"), "p:old p:day"),
        ("2021-01-01", (), "p:old p:leap p:day Z:tie p:month é:tie p:year"),
        ("2022-06-15", ("sv:1",), "p:old p:leap p:day Z:tie p:month é:tie p:year 12345 p:last"),
        (
            "9999-12-31",
            ("p:old",),
            "p:leap p:day Z:tie p:month é:tie p:year 12345 p:last p:same p:later",
        ),
    ],
)
def test_what_exists(facts, cutoff, excluded, ids):
    view = PlainView(facts, cutoff, excluded)
    assert [facts.papers[n].id for n in view.numbers] == ids.split()
    assert len(view) == len(ids.split())
    for paper in facts.papers:
        assert (paper.id in view) == (paper.id in ids.split())


def test_links_within_reach(facts):
    view = PlainView(facts, "2022-06-15")
    assert view.references("p:day") == ["p:old", "p:leap"]
    assert view.citations("p:day") == ["12345"]
    assert view.citation_count("12345") == 0
    assert PlainView(facts, "2023-01-01", ["p:day"]).citations("12345") == ["p:same"]
    with pytest.raises(UnknownPaperError, match="no paper 'p:same' here"):
        view.citations("p:same")


def test_why_a_paper_is_not_there(facts):
    view = PlainView(facts, "2022-06-15", ["p:old"])
    ids = ("x", "sv:2", "s:flag", "p:null", "p:old", "p:same", "p:later", None)
    assert [view.why_not(paper_id) for paper_id in ids] == [
        "is in no row of papers.parquet",
        "is in no row of papers.parquet",
        "is a survey",
        "is undated",
        "is excluded",
        "is dated 2022-06-15, not before 2022-06-15",
        "is dated 2023-01-31, not before 2022-06-15",
        "is in no row of papers.parquet",
    ]


def test_scores_by_hand(tmp_path):
    """Two papers of one and three terms in reach, and a later one that changes nothing."""
    from corpus_builder.build import build

    titles = ["graph", "graph graph tree", "tree tree"]
    papers = [{"id": f"p{n}", "title": t, "date": f"200{n}"} for n, t in enumerate(titles)]
    build(Memory(papers, [SURVEY]), tmp_path / "corpus")
    facts = StoredCorpus(tmp_path / "corpus")
    view = PlainView(facts, "2002-01-01")
    scores = Bm25(facts, ("title",)).scores("Graphs of the tree graph", view)
    graph, tree = math.log(1 + 0.5 / 2.5), math.log(1 + 1.5 / 1.5)
    short, long = 0.9 * (0.6 + 0.4 * 1 / 2), 0.9 * (0.6 + 0.4 * 3 / 2)
    wanted = [2 * graph / (1 + short), 2 * graph * 2 / (2 + long) + tree / (1 + long), 0.0]
    assert scores.tolist() == pytest.approx(wanted, rel=1e-15)


def test_nothing_of_the_view_takes_part_in_what_is_expected():
    """The second reading shares no code with the first."""
    import ast

    root = Path(arena.testing.__file__).parent
    for name in ("exposure", "stored", "reference"):
        tree = ast.parse((root / f"{name}.py").read_text(encoding="utf-8"))
        imported = {str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        own = {n for n in imported if n.startswith("arena") and not n.startswith("arena.testing")}
        assert own <= {"arena.errors", "arena.papers", "arena.text"}, name
