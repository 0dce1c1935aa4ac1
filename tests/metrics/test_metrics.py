"""Metric values against hand-worked examples, laws, and ranx."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import metrics
from arena.errors import DataError, UnknownNameError
from arena.metrics import METRICS
from arena.metrics.average_precision import average_precision
from arena.metrics.f1 import f1
from arena.metrics.mrr import mrr
from arena.metrics.ndcg import ndcg
from arena.metrics.precision import precision
from arena.metrics.recall import recall
from arena.metrics.success import success

FUNCTIONS = [recall, precision, ndcg, mrr, average_precision, f1, success]
NAMES = [
    "recall", "recall@1", "recall@3", "recall@10", "recall@100",
    "precision", "precision@1", "precision@3", "precision@10", "precision@100",
    "ndcg", "ndcg@1", "ndcg@3", "ndcg@10", "ndcg@30", "ndcg@100",
    "mrr", "mrr@1", "mrr@3", "mrr@10",
    "map", "map@1", "map@3", "map@10", "f1", "f1@1", "f1@3", "f1@10", "r-precision",
    "hit_rate", "hit_rate@1", "hit_rate@3",
]  # fmt: skip

GAINS = {"a": 2, "b": 1, "c": 1, "d": 1}
RANKING = ["x", "b", "a", "y", "c"]
L3, L5, L6 = math.log2(3), math.log2(5), math.log2(6)

IDS = [f"d{n}" for n in range(12)]
rankings = st.lists(st.sampled_from(IDS), unique=True)
golds = st.dictionaries(st.sampled_from(IDS), st.integers(1, 3), min_size=1)
cutoffs = st.none() | st.integers(1, 15)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("recall@1", 0.0),
        ("recall@2", 1 / 4),
        ("recall@3", 2 / 4),
        ("recall@10", 3 / 4),
        ("recall", 3 / 4),
        ("precision@1", 0.0),
        ("precision@3", 2 / 3),
        ("precision@10", 3 / 10),  # five retrieved, still divided by ten
        ("precision", 3 / 5),
        ("mrr", 1 / 2),
        ("mrr@1", 0.0),
        ("mrr@2", 1 / 2),
        # gold at the ranks 2, 3 and 5, four gold ids
        ("map", (1 / 2 + 2 / 3 + 3 / 5) / 4),
        ("map@2", (1 / 2) / 4),
        ("f1", 2 * (3 / 5) * (3 / 4) / (3 / 5 + 3 / 4)),
        ("f1@10", 2 * (3 / 10) * (3 / 4) / (3 / 10 + 3 / 4)),
        ("f1@1", 0.0),
        ("r-precision", 2 / 4),
        ("success@1", 0.0),
        ("success@2", 1.0),
        # gains 0 1 2 0 1, discounts log2 of 2..6; ideal 2 1 1 1
        ("ndcg@1", 0.0),
        ("ndcg@2", (1 / L3) / (2 + 1 / L3)),
        ("ndcg@3", (1 / L3 + 2 / 2) / (2 + 1 / L3 + 1 / 2)),
        ("ndcg@5", (1 / L3 + 2 / 2 + 1 / L6) / (2 + 1 / L3 + 1 / 2 + 1 / L5)),
        ("ndcg", (1 / L3 + 2 / 2 + 1 / L6) / (2 + 1 / L3 + 1 / 2 + 1 / L5)),
    ],
)
def test_by_hand(name: str, expected: float) -> None:
    assert METRICS.get(name)(RANKING, GAINS) == pytest.approx(expected, abs=1e-15)


def test_ndcg_without_cutoff_has_all_gold_in_the_ideal() -> None:
    assert ndcg(["a"], {"a": 1, "b": 1}) == pytest.approx(1 / (1 + 1 / L3))
    assert ndcg(["a"], {"a": 1, "b": 1}, k=1) == 1.0


def test_empty_ranking_scores_zero() -> None:
    assert set(metrics.evaluate([], GAINS, NAMES).values()) == {0.0}


def test_gains_below_one_are_not_relevant() -> None:
    relevant = GAINS | {"x": 0, "y": -1}
    assert metrics.evaluate(RANKING, relevant, NAMES) == metrics.evaluate(RANKING, GAINS, NAMES)


def test_registry() -> None:
    assert set(METRICS.names()) >= {"mrr", "ari", "reference_f1", "scons"}
    assert all(METRICS.describe().values())
    found = [METRICS.get(name) for name in METRICS.names()]
    assert {each.kind for each in found} == {"ranking", "map", "report", "review", "survey"}
    needed = set().union(*(each.needs for each in found))
    assert needed == {"encoder", "extractor", "model", "corpus"}


def test_directions() -> None:
    lower = {name for name in METRICS.names() if METRICS.get(name).lower_is_better}
    assert lower == {
        "tree_edit_distance", "tree_semantic_distance", "normalised_ted",
        "late_rate", "undated_rate", "self_rate", "survey_rate", "fabricated_rate", "unseen_rate",
        "unresolved_count", "calibration", "calls", "atd",
    }  # fmt: skip
    none = {name for name in METRICS.names() if METRICS.get(name).lower_is_better is None}
    assert none == {
        "reference_count", "cited_statements", "uncited_statements",
        "overlap", "readability", "tokens_estimated",
    }  # fmt: skip


def test_a_cutoff_holds_for_a_metric_that_does_not_ask_for_it() -> None:
    longest = metrics.Metric("long", "ranking", False, frozenset(), lambda r, g, c: float(len(r)))
    assert longest.at(2)(RANKING, GAINS) == 2.0


@pytest.mark.parametrize("name", ["ndgc@10", "nDCG@10", "", "@10", " recall@10", None, 10])
def test_unknown_metric(name: object) -> None:
    with pytest.raises(UnknownNameError, match=r"^no metric named"):
        METRICS.get(name)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "cutoff", ["0", "-1", "x", "", "1.5", "010", "1_0", " 10", "10 ", "10@5", "٣", "9" * 5000]
)
def test_bad_cutoff(cutoff: str) -> None:
    with pytest.raises(DataError, match=r"cutoff after '@' must be .* 'recall@10'"):
        METRICS.get(f"recall@{cutoff}")


def test_only_rankings_have_cutoffs() -> None:
    with pytest.raises(DataError, match="'ari' scores no ranking"):
        METRICS.get("ari@3")


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("ranking", "gains", "message"),
    [
        (["a"], {}, "no gold"),
        (["a"], {"a": 0}, "no gold"),
        (["b", "a", "c", "a"], GAINS, "has 'a' 2 times"),
    ],
)
def test_bad_input(function: metrics.Metric, ranking, gains, message: str) -> None:
    with pytest.raises(DataError, match=message):
        function(ranking, gains)


def test_r_precision_takes_no_cutoff() -> None:
    with pytest.raises(DataError, match=r"r-precision takes no cutoff. Write 'r-precision'"):
        METRICS.get("r-precision@3")(RANKING, GAINS)


@given(rankings, golds, cutoffs)
def test_range(ranking: list[str], gains: dict[str, int], k: int | None) -> None:
    for function in FUNCTIONS:
        assert 0.0 <= function(ranking, gains, k=k) <= 1.0


@given(golds, cutoffs, st.randoms())
def test_perfect_ranking(gains: dict[str, int], k: int | None, rng: random.Random) -> None:
    ranking = list(gains)
    rng.shuffle(ranking)  # the order of equal gains does not matter
    ranking.sort(key=lambda document: -gains[document])
    ranking += [document for document in IDS if document not in gains]
    assert ndcg(ranking, gains, k=k) == 1.0
    assert mrr(ranking, gains, k=k) == 1.0
    assert recall(ranking, gains, k=len(gains)) == precision(ranking, gains, k=len(gains)) == 1.0


@given(rankings, golds, st.integers(1, 15))
def test_laws(ranking: list[str], gains: dict[str, int], k: int) -> None:
    assert recall(ranking, gains, k=k) <= recall(ranking, gains, k=k + 1)
    assert mrr(ranking, gains, k=k) <= mrr(ranking, gains, k=k + 1)
    hits = recall(ranking, gains, k=k) * len(gains)
    assert precision(ranking, gains, k=k) * k == pytest.approx(hits)
    # what comes after the cutoff has no influence
    for function in FUNCTIONS:
        assert function(ranking[:k], gains, k=k) == function(ranking, gains, k=k)


@pytest.mark.slow  # ranx compiles for up to a minute
def test_equals_ranx() -> None:
    ranx = pytest.importorskip("ranx")
    rng = random.Random(0)
    pool = [f"doc{n}" for n in range(300)]
    rankings: dict[str, list[str]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for number in range(300):
        depth = rng.choice([1, 2, 5, 10, 60, 200])
        relevant = rng.sample(pool, rng.choice([2, 4, 20, 150]))
        gains = {document: rng.choice([0, 1, 1, 2, 3]) for document in relevant}
        gains[relevant[0]] = 2  # at least one is relevant
        qrels[f"q{number}"] = gains
        rankings[f"q{number}"] = rng.sample(pool, depth)

    run = ranx.Run(
        {
            query: {document: float(len(ranking) - at) for at, document in enumerate(ranking)}
            for query, ranking in rankings.items()
        }
    )
    means = ranx.evaluate(ranx.Qrels(qrels), run, NAMES)
    ours = {query: metrics.evaluate(rankings[query], qrels[query], NAMES) for query in qrels}
    for name in NAMES:
        for query in qrels:
            assert ours[query][name] == pytest.approx(run.scores[name][query], abs=1e-9, rel=0)
        mean = math.fsum(scores[name] for scores in ours.values()) / len(ours)
        assert mean == pytest.approx(means[name], abs=1e-9, rel=0)
