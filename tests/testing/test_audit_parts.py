"""The second reading of the audit, and what it draws, by hand."""

from __future__ import annotations

import math
import random
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from helpers import SURVEY, Memory

import arena.testing
from arena.errors import UnknownPaperError
from arena.testing.attacks import Attacker, decoy_of, mutated, probes
from arena.testing.audited import check_info
from arena.testing.reference import Bm25, PlainView, wrong_scores
from arena.testing.stored import StoredCorpus, last_day

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


def test_what_is_wrong_with_scores():
    wanted = np.array([0.5, 0.0, 2.0, 1.0])
    assert wrong_scores(wanted, [2, 3, 0], [2.0, 1.0, 0.5], 0, 10) is None
    assert wrong_scores(wanted, [3], [1.0 + 1e-10], 1, 1) is None
    assert wrong_scores(wanted, [], [], 3, 5) is None
    for numbers, scores in (
        ([2, 3], [2.0, 1.0]),
        ([2, 3, 0], [2.0, 1.0, 0.5 + 1e-8]),
        ([2, 3, 1], [2.0, 1.0, 0.5]),
    ):
        assert wrong_scores(wanted, numbers, scores, 0, 10)
    assert wrong_scores(wanted, [3], [1.0], 0, 1)


@pytest.mark.parametrize(
    ("date", "precision", "wanted"),
    [
        ("2020-02-03", "year", "2020-12-31"),
        ("2020-02-03", "month", "2020-02-29"),
        ("2100-02-03", "month", "2100-02-28"),
        ("2020-02-03", "day", "2020-02-03"),
        ("2020-02-03", None, None),
    ],
)
def test_last_days(date, precision, wanted):
    assert last_day(date, precision) == wanted


def test_a_decoy_has_the_same_shape_and_never_was():
    rng = random.Random(1)
    for paper_id in ("w7-55bc4a51a7", "arXiv:2101.00001v2", "é:Tie 'x'"):
        decoy = decoy_of(paper_id, {paper_id}, rng)
        assert decoy != paper_id
        assert [(c.isdigit(), c.isupper(), len(repr(c))) for c in decoy] == [
            (c.isdigit(), c.isupper(), len(repr(c))) for c in paper_id
        ]
    assert decoy_of("—", set(), rng) is None
    assert decoy_of("1", set("0123456789"), rng) is None


def test_hostile_ids_are_many_and_malformed_calls_are_malformed(world):
    rng = random.Random(2)
    assert len({mutated("w7-55bc4a51A7", rng) for _ in range(500)}) >= 17
    env = gymnasium.make("arena/Survey-v0", corpus=world)
    odd = list(probes(env.action_space.tools))
    assert sum(not probe.allowed for probe in odd) > 200
    assert sum(probe.allowed for probe in odd) > 50
    for probe in odd:  # the schema and the action space agree
        assert env.action_space.contains(probe.action) == probe.allowed, probe.what


def test_all_kinds_of_hidden_ids_are_drawn(facts):
    rng = random.Random(3)
    attacker = Attacker(PlainView(facts, "2022-06-15", ["sv:1"]), rng, facts.surveys["sv:1"])
    drawn = {attacker.hidden_id() for _ in range(2_000)}
    assert {"p:same", "p:later", "p:null", "s:flag", "p:twin", "sv:1", "nowhere:3"} <= drawn
    assert "P:SAME" in drawn
    seen = [attacker.paper_id() for _ in range(600)]
    assert {"p:day", "p:leap", "p:last", "p:later"} <= set(seen)


@pytest.mark.parametrize(
    ("metrics", "wrong"),
    [({"recall@10": 1.0}, False), ({}, False), ({"mrr": math.nan}, True), ({"mrr": "p"}, True)],
)
def test_metrics_are_finite_numbers(facts, metrics, wrong):
    found: list[str] = []
    survey = facts.surveys["sv:1"]
    info = {"survey": survey.id, "reward_terms": {"gain": 1.0}, "gain": 1, "metrics": metrics}
    info |= {"answers": {}, "gold": len(survey.gains), "references": len(survey.references)}
    info |= {"references_total": survey.references_total, "unseen": None}
    check_info(info, survey, True, {}, lambda check, what: found.append(what))
    assert found == ([f"metrics={metrics!r}"] if wrong else [])


def test_nothing_of_the_view_takes_part_in_what_is_expected():
    """The second reading shares no code with the first."""
    import ast

    root = Path(arena.testing.__file__).parent
    for name in ("exposure", "stored", "reference"):
        tree = ast.parse((root / f"{name}.py").read_text(encoding="utf-8"))
        imported = {str(n.module) for n in ast.walk(tree) if isinstance(n, ast.ImportFrom)}
        own = {n for n in imported if n.startswith("arena") and not n.startswith("arena.testing")}
        assert own <= {"arena.errors", "arena.papers", "arena.text"}, name
