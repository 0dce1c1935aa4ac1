"""Ranking metrics of SAGE, ScholarQuest and AutoResearchBench, by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import metrics

GAINS = {"a": 2, "b": 1, "c": 1, "d": 1}
RANKING = ["x", "b", "a", "y", "c"]
IDS = [f"d{n}" for n in range(8)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("weighted_recall", 4 / 5),  # b, a and c
        ("weighted_recall@3", 3 / 5),
        ("iou", 3 / 6),  # x and y besides the gold
        ("iou@2", 1 / 5),
        ("precision_returned@50", 3 / 5),
        ("precision_returned@2", 1 / 2),
    ],
)
def test_values_by_hand(name, value):
    assert metrics.evaluate(RANKING, GAINS, [name]) == {name: pytest.approx(value, abs=1e-15)}
    assert metrics.evaluate([], GAINS, [name]) == {name: 0.0}


@given(
    ranking=st.lists(st.sampled_from(IDS), unique=True),
    gold=st.sets(st.sampled_from(IDS), min_size=1),
)
def test_laws(ranking, gold):
    names = ["iou", "weighted_recall", "recall", "precision_returned", "precision", "f1"]
    found = metrics.evaluate(ranking, dict.fromkeys(gold, 1), names)
    assert found["weighted_recall"] == found["recall"]  # of equal gains
    assert found["precision_returned"] == found["precision"]  # without a cutoff
    assert found["iou"] == pytest.approx(found["f1"] / (2 - found["f1"]))  # of Jaccard and Dice
