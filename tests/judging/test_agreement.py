"""Agreement with people equals scikit-learn's and SciPy's numbers, and is null where undefined."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score

from arena_suites.judging import Judgements, agreement, read_human

SCALE = list(range(1, 6))


def judgements(**columns):
    """Judgements of items "0", "1", ... by the scores of each dimension."""
    n = len(next(iter(columns.values())))
    items = {
        str(i): {"scores": {name: column[i] for name, column in columns.items()}, "reasons": {}}
        for i in range(n)
    }
    return Judgements("r", list(columns), (1, 5), {}, {}, items)


def people(**columns):
    n = len(next(iter(columns.values())))
    return {str(i): {name: column[i] for name, column in columns.items()} for i in range(n)}


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5)), min_size=1, max_size=30))
def test_the_numbers_of_scikit_learn_and_scipy(pairs):
    ours, theirs = (list(column) for column in zip(*pairs, strict=True))
    found = agreement(judgements(a=ours), people(a=theirs))["dimensions"]["a"]
    assert found["pairs"] == len(pairs)
    assert found["equal"] == pytest.approx(np.mean(np.equal(ours, theirs)))
    names = ("kappa", "quadratic_kappa", "spearman")
    if len(set(ours)) == 1 or len(set(theirs)) == 1:
        assert [found[name] for name in names] == [None] * 3
        assert [found[f"{name}_interval"] for name in names] == [None] * 3
        return
    expected = [
        cohen_kappa_score(ours, theirs, labels=SCALE),
        cohen_kappa_score(ours, theirs, labels=SCALE, weights="quadratic"),
        spearmanr(ours, theirs).statistic,
    ]
    assert [found[name] for name in names] == pytest.approx(expected)
    for name in names:
        interval = found[f"{name}_interval"]
        assert interval is None or -1 - 1e-9 <= interval[0] <= interval[1] <= 1 + 1e-9


def test_by_hand():
    # Four of six equal; by chance 3/6 * 2/6 + 3/6 * 2/6 + 0 * 2/6 = 1/3: (2/3 - 1/3) / (2/3).
    found = agreement(judgements(a=[1, 1, 1, 2, 2, 2]), people(a=[1, 1, 3, 2, 2, 3]))
    assert found["dimensions"]["a"]["kappa"] == pytest.approx(0.5)


def test_alpha_is_that_of_krippendorffs_example():
    """The data of "Computing Krippendorff's Alpha-Reliability" (2011), part C and E: .849."""
    sheets = ["123321412...", "1233224125.3", ".3332342251.", "12332441251."]
    raters = [
        {str(i): {"a": int(score)} for i, score in enumerate(sheet) if score != "."}
        for sheet in sheets
    ]
    found = agreement(judgements(a=[1] * 12), *raters)
    assert found["overall"]["alpha"] == pytest.approx(0.849, abs=5e-4)
    low, high = found["overall"]["alpha_interval"]
    assert low < 0.849 < high
    assert found["overall"]["pairs"] == 41
    assert "alpha" not in agreement(judgements(a=[1] * 12), raters[0])["overall"]


def test_overall_pools_and_mean_averages():
    ours = {"a": [1, 2, 3, 4, 5, 1], "b": [2, 2, 1, 3, 3, 1]}
    theirs = {"a": [1, 2, 3, 4, 4, 2], "b": [2, 1, 1, 3, 2, 1]}
    found = agreement(judgements(**ours), people(**theirs))
    pooled = cohen_kappa_score(ours["a"] + ours["b"], theirs["a"] + theirs["b"], labels=SCALE)
    assert found["overall"]["kappa"] == pytest.approx(pooled)
    assert found["overall"]["pairs"] == 12
    kappas = [found["dimensions"][name]["kappa"] for name in "ab"]
    assert found["mean"]["kappa"] == pytest.approx(sum(kappas) / 2)
    assert found == agreement(judgements(**ours), people(**theirs))  # a fixed seed


def test_the_interval_is_that_of_resampled_items():
    random = np.random.default_rng(0)
    ours = random.integers(1, 6, 60)
    theirs = np.clip(ours + random.integers(-1, 2, 60), 1, 5)
    found = agreement(judgements(a=ours.tolist()), people(a=theirs.tolist()))["dimensions"]["a"]
    drawn = random.integers(0, 60, (2000, 60))
    slow = [spearmanr(ours[rows], theirs[rows]).statistic for rows in drawn]
    assert found["spearman_interval"] == pytest.approx(np.quantile(slow, [0.025, 0.975]), abs=0.02)


def test_a_constant_rater_and_a_single_item_give_null_and_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        constant = agreement(judgements(a=[3, 3, 3], b=[1, 2, 3]), people(a=[1, 2, 3], b=[1, 2, 3]))
        one = agreement(judgements(a=[3]), people(a=[3]))
        none = agreement(judgements(a=[3]), {})
    assert constant["dimensions"]["a"]["kappa"] is None
    assert constant["mean"]["kappa"] is None
    assert constant["dimensions"]["b"]["kappa"] == 1
    # One in nine resamples of three items holds the same item three times.
    assert constant["dimensions"]["b"]["kappa_interval"] is None
    low, high = one["dimensions"]["a"].pop("equal_interval")
    assert (round(low, 4), high) == (0.2065, 1)  # Wilson's: 1 / (1 + 1.96 ** 2)
    assert one["dimensions"]["a"] == {
        "pairs": 1, "equal": 1.0, "kappa": None, "kappa_interval": None, "quadratic_kappa": None,
        "quadratic_kappa_interval": None, "spearman": None, "spearman_interval": None,
    }  # fmt: skip
    assert none["overall"]["pairs"] == 0
    json.dumps([constant, one, none], allow_nan=False)


def test_a_sheet_of_scores(tmp_path):
    path = tmp_path / "anna.csv"
    path.write_text("item,answer\n0,3\n1,\n")
    assert read_human(path, judgements(a=[1, 2])) == {"0": {"a": 3}}
