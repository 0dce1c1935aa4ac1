"""Intervals, tests and corrections, against SciPy, ranx and hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from arena.errors import DataError, UnknownNameError
from arena.results.comparison.clusters import clusters_of, in_clusters, numbered
from arena.results.comparison.paired import bootstrap, correct, fisher, student


def pair(n, seed=0, shift=0.05):
    random = np.random.default_rng(seed)
    one = random.random(n)
    return one, one + random.normal(shift, 0.15, n)


def test_fisher_by_hand():
    """Of 8 signs of 1, 2, 3 those all alike reach 6; of 16 of 1, 1, 1, -1 all but 6 reach 2."""
    assert fisher(np.array([[1.0, 1], [2, 1], [3, 1]])) == [2 / 8, 2 / 8]
    assert fisher(np.array([[1.0], [1], [1], [-1]])) == [10 / 16]
    assert fisher(np.array([[0.3]])) == [1.0]
    assert fisher(np.zeros((5, 1))) == fisher(np.zeros((30, 1))) == [1.0]


def test_what_rounding_makes_unequal_counts_as_equal():
    """0.1 + 0.2 - 0.3 is not 0 in floating point; the sums with opposite signs are equal."""
    values = np.array([[0.1], [0.2], [-0.3], [0.3]])
    totals = [abs(sum(s)) for s in itertools.product((1, -1), (2, -2), (3, -3), (3, -3))]
    assert fisher(values) == [sum(t >= 3 for t in totals) / 16]


@pytest.mark.parametrize("n", [10, 16, 17, 74])
def test_fisher_as_scipy(n):
    one, other = pair(n)
    found = stats.permutation_test(
        (other - one,), lambda x, axis: np.abs(x.mean(axis=axis)), permutation_type="samples",
        alternative="greater", n_resamples=2**n if n <= 16 else 20_000, batch=2000, random_state=1,
    )  # fmt: skip
    (p,) = fisher((other - one)[:, None])
    assert p == pytest.approx(found.pvalue, abs=1e-12 if n <= 16 else 0.015)


@pytest.mark.parametrize("n", [2, 8, 74])
def test_student_as_scipy(n):
    one, other = pair(n)
    assert student((other - one)[:, None]) == [
        pytest.approx(stats.ttest_rel(other, one).pvalue, rel=1e-9)
    ]


def test_holm_by_hand():
    """Sorted .01, .02, .03, .04 times 4, 3, 2, 1 is .04, .06, .06, .04, and must not fall."""
    assert correct([0.03, 0.01, None, 0.04, 0.02]) == pytest.approx([0.06, 0.04, None, 0.06, 0.06])
    assert correct([0.5, 0.6]) == [1.0, 1.0]
    assert correct([]) == []


@pytest.mark.parametrize("n", [8, 74])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_bootstrap_as_scipy(n, level):
    values = np.stack(pair(n), 1)
    found = bootstrap(values, level)
    for column, (low, high) in zip(values.T, found, strict=True):
        theirs = stats.bootstrap(
            (column,), np.mean, confidence_level=level, method="percentile", n_resamples=9999,
            random_state=1,
        ).confidence_interval  # fmt: skip
        spread = column.std() / np.sqrt(n)
        assert low == pytest.approx(theirs.low, abs=0.15 * spread)
        assert high == pytest.approx(theirs.high, abs=0.15 * spread)


def test_bootstrap_is_paired():
    """The interval of a difference that is the same everywhere has no width."""
    one, _ = pair(20)
    assert bootstrap(np.stack([one + 0.25 - one], 1), 0.95)[0] == pytest.approx((0.25, 0.25))
    assert bootstrap(np.array([[0.3, 0.4]]), 0.95) == [(None, None)] * 2
    assert bootstrap(np.full((3, 1), 0.1), 0.95) == [(0.1, 0.1)]


def test_clusters_by_hand():
    """Sums 3, 3 and -1 of clusters of 2, 1 and 3 topics: 5 is reached by all or none of 8 signs.

    Residuals from the mean 5 / 6 are 4 / 3, 13 / 6 and -7 / 2.
    """
    values = np.array([[1.0], [2], [3], [0.5], [-0.5], [-1]])
    clusters = numbered(["b", "b", "c", "a", "a", "a"])
    assert clusters.tolist() == [1, 1, 2, 0, 0, 0]
    assert fisher(values, clusters) == [sum(abs(a + b + c) >= 5 for a in (3, -3) for b in (3, -3)
                                            for c in (1, -1)) / 8]  # fmt: skip
    error = np.sqrt(3 / 2 * ((4 / 3) ** 2 + (13 / 6) ** 2 + 3.5**2)) / 6
    assert student(values, clusters) == [pytest.approx(2 * stats.t.sf(5 / 6 / error, 2))]
    assert bootstrap(values, 0.95, np.zeros(6, int)) == [(None, None)]
    assert fisher(values, np.arange(6)) == fisher(values)
    assert student(values, np.arange(6)) == pytest.approx(student(values))
    assert bootstrap(values, 0.95, np.arange(6)) == bootstrap(values, 0.95)


def test_a_topic_that_is_copied_into_its_cluster_adds_nothing():
    one, other = pair(12)
    values = (other - one)[:, None]
    copies, clusters = np.repeat(values, 5, axis=0), np.repeat(np.arange(12), 5)
    assert fisher(copies, clusters) == fisher(values)
    assert student(copies, clusters) == pytest.approx(student(values))
    ((low, high),), ((tight, wide),) = bootstrap(copies, 0.95, clusters), bootstrap(values, 0.95)
    assert low < tight < wide < high  # wider as t with 11 degrees of freedom is than the normal
    assert high - low < 1.3 * (wide - tight)
    ((narrow, broad),) = bootstrap(copies, 0.95)
    assert broad - narrow < 0.6 * (wide - tight)


@pytest.mark.parametrize(
    "sizes", [[6] * 5 + [5] * 18, [9, 8, 8, 8, 7, 7] + [5] * 10 + [4, 4, 4, 4, 3, 2, 2]]
)
def test_one_in_twenty_true_nulls_is_rejected(sizes):
    """Of 400 nulls of 120 topics in 23 clusters 9 to 33 are: 99.5 % of what chance gives at 5 %.

    Single topics would reject some 90.
    """
    assert (sum(sizes), len(sizes)) == (120, 23)
    clusters, random = np.repeat(np.arange(23), sizes), np.random.default_rng(5)
    shared = random.normal(size=(23, 400))[clusters]
    nulls = np.sqrt(0.3) * shared + np.sqrt(0.7) * random.normal(size=(120, 400))
    low, high = stats.binom.ppf([0.0025, 0.9975], 400, 0.05)
    assert (low, high) == (9, 33)
    intervals = bootstrap(nulls, 0.95, clusters)
    for rejected in (
        np.array(fisher(nulls, clusters)) <= 0.05,
        np.array(student(nulls, clusters)) <= 0.05,
        [not a <= 0 <= b for a, b in intervals],
    ):
        assert low <= np.sum(rejected) <= high
    assert np.sum(np.array(student(nulls)) <= 0.05) > 60


def test_what_a_cluster_is():
    rows = {"a": {"cluster": "x", "domain": "d"}, "b": {"cluster": "x"}, "c": {"domain": "d"}}
    assert clusters_of(rows) == {"a": "x", "b": "x", "c": "c"}
    assert clusters_of(rows, "domain") == {"a": "d", "b": "b", "c": "d"}
    with pytest.raises(DataError, match="no topic of these runs has a domain"):
        clusters_of({"a": {}}, "domain")
    with pytest.raises(UnknownNameError, match="Did you mean 'domain'"):
        clusters_of(rows, "domains")
    assert in_clusters(1, 1, "question") == "1 question"
