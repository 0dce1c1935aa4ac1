"""Metric values against hand-worked examples, laws, and ranx."""

from __future__ import annotations

import itertools
import math
import pickle
import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import metrics
from arena.errors import DataError, UnknownNameError
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
    assert metrics.get(name)(RANKING, GAINS) == pytest.approx(expected, abs=1e-15)


def test_ndcg_without_cutoff_has_all_gold_in_the_ideal() -> None:
    assert ndcg(["a"], {"a": 1, "b": 1}) == pytest.approx(1 / (1 + 1 / L3))
    assert ndcg(["a"], {"a": 1, "b": 1}, 1) == 1.0


def test_empty_ranking_scores_zero() -> None:
    assert set(metrics.evaluate([], GAINS, NAMES).values()) == {0.0}


def test_gains_below_one_are_not_relevant() -> None:
    relevant = GAINS | {"x": 0, "y": -1}
    assert metrics.evaluate(RANKING, relevant, NAMES) == metrics.evaluate(RANKING, GAINS, NAMES)


def test_evaluate_keeps_the_order_of_names() -> None:
    names = ["mrr", "recall@10", "ndcg@30"]
    assert list(metrics.evaluate(RANKING, GAINS, iter(names))) == names


def test_a_function_by_name_can_be_sent_to_a_worker() -> None:
    function = pickle.loads(pickle.dumps(metrics.get("recall@2")))
    assert function(RANKING, GAINS) == 1 / 4


def test_registry() -> None:
    assert set(metrics.METRICS.names()) >= {"mrr", "ndcg", "precision", "recall"}
    assert all(metrics.METRICS.describe().values())
    assert metrics.parse("ndcg@30") == (metrics.METRICS.get("ndcg"), 30)
    assert metrics.parse("mrr") == (mrr, None)


@pytest.mark.parametrize("name", ["ndgc@10", "nDCG@10", "", "@10", " recall@10", None, 10])
def test_unknown_metric(name: object) -> None:
    with pytest.raises(UnknownNameError, match=r"^no metric named"):
        metrics.get(name)  # type: ignore[arg-type]


def test_unknown_metric_suggests() -> None:
    with pytest.raises(UnknownNameError, match=r"^no metric named 'ndgc'\. Did you mean 'ndcg'"):
        metrics.get("ndgc@10")


@pytest.mark.parametrize(
    "cutoff", ["0", "-1", "x", "", "1.5", "010", "1_0", " 10", "10 ", "10@5", "٣", "9" * 5000]
)
def test_bad_cutoff(cutoff: str) -> None:
    with pytest.raises(DataError, match=r"cutoff after '@' must be .* 'recall@10'"):
        metrics.get(f"recall@{cutoff}")


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    ("ranking", "gains", "k", "message"),
    [
        (["a"], {}, 10, "no gold"),
        (["a"], {"a": 0}, None, "no gold"),
        (["b", "a", "c", "a"], GAINS, 1, "holds 'a' 2 times"),
        ("abc", GAINS, 1, "not one string"),
        ([1, 2], GAINS, 1, "ranking holds 1"),
        (["a"], {"a": 1.5}, 1, "gain 1.5 of 'a'"),
        (["a"], ["a"], 1, r"gains \['a'\]: expected a mapping of ids to integers"),
        (["a"], GAINS, 0, "cutoff 0"),
        (["a"], GAINS, -1, "cutoff -1"),
        (["a"], GAINS, 2.0, "cutoff 2.0"),
        (["a"], GAINS, True, "cutoff True"),
    ],
)
def test_bad_input(
    function: metrics.Metric, ranking: Sequence[str], gains: Mapping[str, int], k: int, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        function(ranking, gains, k)


def test_r_precision_takes_no_cutoff() -> None:
    with pytest.raises(DataError, match=r"r-precision takes no cutoff. Write 'r-precision'"):
        metrics.get("r-precision@3")(RANKING, GAINS)


def test_one_name_instead_of_a_list() -> None:
    with pytest.raises(DataError, match="expected a list of names"):
        metrics.evaluate(RANKING, GAINS, "mrr")


@given(rankings, golds, cutoffs)
def test_range(ranking: list[str], gains: dict[str, int], k: int | None) -> None:
    for function in FUNCTIONS:
        assert 0.0 <= function(ranking, gains, k) <= 1.0


@given(golds, cutoffs, st.randoms())
def test_perfect_ranking(gains: dict[str, int], k: int | None, rng: random.Random) -> None:
    ranking = list(gains)
    rng.shuffle(ranking)  # the order of equal gains does not matter
    ranking.sort(key=lambda document: -gains[document])
    ranking += [document for document in IDS if document not in gains]
    assert ndcg(ranking, gains, k) == 1.0
    assert mrr(ranking, gains, k) == 1.0
    assert recall(ranking, gains, len(gains)) == precision(ranking, gains, len(gains)) == 1.0


@given(rankings, golds, st.integers(1, 15))
def test_laws(ranking: list[str], gains: dict[str, int], k: int) -> None:
    assert recall(ranking, gains, k) <= recall(ranking, gains, k + 1)
    assert mrr(ranking, gains, k) <= mrr(ranking, gains, k + 1)
    hits = recall(ranking, gains, k) * len(gains)
    assert precision(ranking, gains, k) * k == pytest.approx(hits)
    # what comes after the cutoff has no influence
    for function in FUNCTIONS:
        assert function(ranking[:k], gains, k) == function(ranking, gains, k)


@given(rankings, golds, st.integers(0, 10))
def test_ndcg_rewards_a_better_swap(ranking: list[str], gains: dict[str, int], at: int) -> None:
    if at + 1 < len(ranking):
        first, second = (gains.get(document, 0) for document in ranking[at : at + 2])
        swapped = [*ranking[:at], ranking[at + 1], ranking[at], *ranking[at + 2 :]]
        change = ndcg(swapped, gains) - ndcg(ranking, gains)
        assert (change > 0, change < 0) == (second > first, second < first)


def test_mean() -> None:
    per_query = {"q1": {"mrr": 1.0, "recall": 0.25}, "q2": {"recall": 0.75, "mrr": 0.5}}
    assert metrics.mean(per_query) == {"mrr": 0.75, "recall": 0.5}
    assert list(metrics.mean(per_query)) == ["mrr", "recall"]


def test_mean_does_not_depend_on_the_order() -> None:
    scores = {"q1": 0.1, "q2": 0.2, "q3": 0.3, "q4": 0.7}
    results = {
        metrics.mean({query: {"m": score} for query, score in order})["m"]
        for order in itertools.permutations(scores.items())
    }
    assert len(results) == 1


@pytest.mark.parametrize(
    ("per_query", "message"),
    [
        ({}, "no query"),
        ({"q1": {"mrr": 1.0}, "q2": {}}, "query 'q2' differs .* 'mrr'"),
        ({"q1": {}, "q2": {"mrr": 1.0}}, "query 'q2' differs .* 'mrr'"),
        ({"q1": {"mrr": math.nan}}, "query 'q1': mrr is nan"),
    ],
)
def test_mean_errors(per_query: dict[str, dict[str, float]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        metrics.mean(per_query)


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
    assert metrics.mean(ours) == pytest.approx(means, abs=1e-9, rel=0)
