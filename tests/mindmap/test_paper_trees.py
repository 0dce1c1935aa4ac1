"""TaxoBench's metrics of trees that hold papers: by hand, scikit-learn's, and by definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from arena.mindmap import MindMap, evaluate
from arena_suites.taxobench.metrics import path_score

LEAVES = ["leaf_recall", "leaf_precision", "ari", "homogeneity", "completeness", "v_measure"]
SKELETON = ["normalised_ted", "node_soft_recall", "node_soft_precision", "node_soft_f1"]


class Plane:
    """An encoder of labels a to e: a and c at cosine 0.6, a and d at -1, others orthogonal."""

    config: dict[str, object] = {}  # noqa: RUF012 - never changed
    vectors = {"a": [1, 0, 0], "b": [0, 0, 1], "c": [0.6, 0.8, 0], "d": [-1, 0, 0], "e": [0, 1, 0]}  # noqa: RUF012

    def queries(self, texts):
        return np.array([self.vectors[text] for text in texts], float)


def leaf(label: str, papers: str) -> MindMap:
    return MindMap(label, (), tuple(papers))


GOLD = MindMap("a", (leaf("b", "123"), leaf("c", "45")))


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [
        (GOLD, [1, 1, 1, 1, 1, 1]),
        (MindMap("a"), [0, 0, 0, 0, 0, 0]),
        (MindMap("a", (leaf("b", "xy"),)), [0, 0, 0, 0, 0, 0]),
        # All in one group: h = 0, c = 1, and all pairs are together.
        (MindMap("a", (leaf("b", "12345"),)), [1, 1, 0, 0, 1, 0]),
        # 1 twice (the first place counts), 5 left out, x unknown: groups 123 | 4 | 5.
        # Pairs together: gold 3 + 1, predicted 3, both 3; expected 3 x 4 / 10 = 1.2.
        # ARI = (3 - 1.2) / (3.5 - 1.2).
        (
            MindMap("a", (leaf("b", "123x"), leaf("c", "41"))),
            [0.8, 0.8, 1.8 / 2.3, 1, None, None],
        ),
        # Papers of an inner node are a group like others.
        (MindMap("a", (MindMap("b", (leaf("c", "45"),), tuple("123")),)), [1, 1, 1, 1, 1, 1]),
    ],
)
def test_leaves_by_hand(predicted, expected):
    scores = evaluate(predicted, GOLD, LEAVES, Plane())
    for name, value in zip(LEAVES, expected, strict=True):
        if value is not None:
            assert scores[name] == pytest.approx(value, abs=1e-12), name


def test_a_gold_map_without_papers_has_nothing_to_count():
    gold = MindMap("a", (MindMap("b"),))
    assert set(evaluate(GOLD, gold, [*LEAVES, "sem_path"], Plane()).values()) == {None}


def test_the_skeleton_by_hand():
    predicted = MindMap("a", (MindMap("b"), MindMap("d", (MindMap("e"),))))
    scores = evaluate(predicted, GOLD, SKELETON, Plane())
    # a stays, b stays, d becomes c for 1 - max(0, -0.6) = 1, e is deleted for 1; of 4 + 3 nodes.
    # Cheaper: e becomes c for 1 - 0.8, d is deleted.
    assert scores["normalised_ted"] == pytest.approx(1.2 / 7)
    # c(T*) of a, b, c: 1 / 1.6 + 1 + 1 / 1.6; c(T) of a, b, d, e: 4, since negative cosines are 0.
    # The union a, b, c, d, e: a 1 / 1.6, b 1, c 1 / (1 + .6 + .8), d 1, e 1 / 1.8.
    gold, ours, union = 2.25, 4.0, 1 / 1.6 + 1 + 1 / 2.4 + 1 + 1 / 1.8
    shared = gold + ours - union
    assert scores["node_soft_recall"] == pytest.approx(shared / gold)
    assert scores["node_soft_precision"] == pytest.approx(shared / ours)
    recall, precision = scores["node_soft_recall"], scores["node_soft_precision"]
    assert scores["node_soft_f1"] == pytest.approx(2 * recall * precision / (recall + precision))


def test_a_root_alone_has_no_skeleton():
    assert list(evaluate(MindMap("a"), GOLD, SKELETON, Plane()).values()) == [1, 0, 0, 0]


@st.composite
def trees(draw):
    size = draw(st.integers(1, 9))
    parents = [draw(st.integers(0, n)) for n in range(size)]
    labels = draw(st.text("abcde", min_size=size + 1, max_size=size + 1))
    below: list[list[MindMap]] = [[] for _ in range(size + 1)]
    for n in range(size, 0, -1):
        below[parents[n - 1]].insert(0, MindMap(labels[n], tuple(below[n])))
    return MindMap(labels[0], tuple(below[0]))


def test_paths_by_hand():
    equal = lambda a, b: float(a == b)  # noqa: E731
    assert path_score("abc", "abc", equal) == 1
    assert path_score("abc", "ab", equal) == 1 / 2  # one label left over
    assert path_score("ac", "abc", equal) == 1 / 2  # put in order: a to a, c to c
    assert path_score("ca", "abc", equal) == 1 / 4  # each is put to some label, none to its own
    assert path_score("", "ab", equal) == 1 / 3
    assert path_score("a", "b", lambda a, b: -0.5) == 1 / 2  # no similarity below 0
    scores = evaluate(MindMap("a", (leaf("b", "12"), leaf("e", "4"))), GOLD, ["sem_path"], Plane())
    # 1, 2: 1; 3, 5: left out; 4: e for c costs 0.2.
    assert scores["sem_path"] == pytest.approx((1 + 1 + 0 + 1 / 1.2 + 0) / 5)
