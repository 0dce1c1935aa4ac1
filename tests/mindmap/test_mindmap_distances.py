"""Tree distances against examples worked out by hand, another implementation, and their laws."""

from __future__ import annotations

import numpy as np
import pytest
from apted import APTED, Config
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import DataError
from arena.mindmap import MindMap
from arena.mindmap.metrics.tree_distance import tree_edit_distance, tree_semantic_distance


def node(label: str, *children: MindMap | str) -> MindMap:
    return MindMap(label, tuple(MindMap(c) if isinstance(c, str) else c for c in children))


class Chosen:
    """An encoder that knows the vectors of some labels; others are orthogonal to all."""

    config: dict[str, object] = {}  # noqa: RUF012 - never changed

    def __init__(self, **vectors):
        self.vectors = vectors
        self.places: dict[str, int] = {}
        self.asked = 0

    def queries(self, texts):
        (label,) = texts
        self.asked += 1
        vector = np.zeros((1, 60))
        known = self.vectors.get(label)
        if known is None:
            vector[0, 3 + self.places.setdefault(label, len(self.places))] = 1
        else:
            vector[0, : len(known)] = known
        return vector


# Cosines to a: b 1, c 0.8 (exactly), d a little more, e 0.6, n -1; of c and e 0.96.
PLANE = Chosen(a=[1, 0], b=[2, 0], c=[4, 3], d=[0.8001, 0.59986665], e=[3, 4], n=[-1, 0], o=[0, 0])


@pytest.mark.parametrize(
    ("predicted", "gold", "distance", "semantic"),
    [
        (node("r", "a"), node("s", "a"), 0, 0),  # a root's wording does not count
        (node("r", "x"), node("x", "r"), 1, 1),
        (node("r", "a"), node("r", "b"), 1, 0),
        (node("r", "a"), node("r", "d"), 1, 0),
        (node("r", "a"), node("r", "n"), 1, 1),
        (node("r", "o"), node("r", "o"), 0, 0),  # equal, though without a direction
        (node("r", " "), node("r", "a"), 1, 1),
        (node("r"), node("r", "a", node("b", "c")), 3, 3),
        # The order of siblings counts: delete one, insert it behind.
        (node("r", "x", "y"), node("r", "y", "x"), 2, 2),
        # A level between: insert one.
        (node("r", "x", "y"), node("r", node("w", "x", "y")), 1, 1),
        (node("r", node("w", "x", "y"), "z"), node("r", "x", node("v", "y", "z")), 2, 2),
        # Zhang and Shasha 1989, figure 1: f(d(a c(b)) e) against f(c(d(a b)) e).
        (node("r", node("f", node("d", "a'", node("c'", "b'")), "e'")),
         node("r", node("f", node("c'", node("d", "a'", "b'")), "e'")), 2, 2),
        # a for b and c for e cost nothing, x is deleted.
        (node("r", node("x", "a", "c")), node("r", "b", "e"), 3, 1),
        (node("r", node("a", node("b", "a"))), node("r", node("b", node("a", "b"))), 2, 0),
    ],
)  # fmt: skip
def test_by_hand(predicted, gold, distance, semantic):
    for a, b in ((predicted, gold), (gold, predicted)):
        assert tree_edit_distance(a, b) == distance
        assert tree_semantic_distance(a, b, encoder=PLANE) == semantic


def test_a_root_cannot_stand_for_a_node():
    """The neutral roots have a label that no map could have."""
    for label in ("", "0", "None"):
        deep = node(label, node(label, label))
        assert tree_edit_distance(deep, node(label, label)) == 1
        assert tree_semantic_distance(deep, node("x", label), encoder=PLANE) == 1


# Against another implementation

LABELS = "abcdexyz"


@st.composite
def trees(draw: st.DrawFn, most: int = 14) -> MindMap:
    """Return a tree of any shape; siblings may have the same label."""
    size = draw(st.integers(0, most))
    parents = [draw(st.integers(max(0, n - draw(st.integers(1, 14))), n)) for n in range(size)]
    labels = draw(st.text(LABELS, min_size=size, max_size=size))
    made: list[list[MindMap]] = [[] for _ in range(size + 1)]
    for n in range(size, 0, -1):
        made[parents[n - 1]].insert(0, MindMap(labels[n - 1], tuple(made[n])))
    return MindMap("root", tuple(made[0]))


class Unit(Config):
    """apted's costs: 1, and 0 to rename what `free` holds; its nodes are mind-maps."""

    def __init__(self, root_pair, free=frozenset()):
        self.roots, self.free = root_pair, free

    def rename(self, node1, node2):
        roots = [node1 is self.roots[0], node2 is self.roots[1]]
        if any(roots):
            return 1 - all(roots)
        pair = (node1.label, node2.label)
        return 0 if pair[0] == pair[1] or pair in self.free else 1

    def children(self, node):
        return list(node.children)


@settings(max_examples=100, deadline=None)
@given(trees(), trees())
def test_against_apted(a, b):
    theirs = APTED(a, b, Unit((a, b))).compute_edit_distance()
    assert tree_edit_distance(a, b) == theirs


@settings(max_examples=100, deadline=None)
@given(trees(), trees())
def test_the_semantic_distance_against_apted(a, b):
    # All pairs of a, b, c, d, e above 0.8, by the angles of PLANE: 0, 0, 36.87, 36.86, 53.13.
    near = {*"ab"}, {*"ad"}, {*"bd"}, {*"cd"}, {*"ce"}, {*"de"}
    free = frozenset((x, y) for some in near for x in some for y in some)
    theirs = APTED(a, b, Unit((a, b), free)).compute_edit_distance()
    assert tree_semantic_distance(a, b, encoder=PLANE) == theirs


# Large and deep ones


def chain(length: int, last: str = "x") -> MindMap:
    tree = MindMap(last)
    for n in range(length):
        tree = MindMap(f"n{n}", (tree,))
    return tree


def comb(length: int, left: bool) -> MindMap:
    tree = MindMap("end")
    for n in range(length):
        leaf = MindMap(f"leaf {n}")
        tree = MindMap(f"n{n}", (tree, leaf) if left else (leaf, tree))
    return tree


def test_a_chain_of_ten_thousand_nodes():
    tree, gold = chain(10_000), node("r", *(str(n) for n in range(20)))
    assert tree_edit_distance(tree, gold) == 10_000 + 19  # one leaf takes the place of one node
    assert tree_edit_distance(chain(1_000), chain(1_000, "y")) == 1
    class_free = Chosen(**{f"n{n}": [1, 0] for n in range(1000)}, x=[1, 0], y=[1, 0])
    assert tree_semantic_distance(chain(1_000), chain(1_000, "y"), encoder=class_free) == 0


@pytest.mark.parametrize("left", [True, False])
def test_combs_take_the_better_side(left):
    """From the wrong side each step down begins again, more than 2^31 steps in all."""
    tree = comb(400, left)
    assert tree_edit_distance(tree, tree) == 0
    other = comb(399, left)
    # The root above the longer one is not compared; leaf 399 and n399 have no like.
    assert tree_edit_distance(MindMap("", (tree,)), MindMap("", (other,))) == 2


def test_too_large_is_told_before_anything_is_encoded():
    large = node("r", *(str(n) for n in range(2_100)))
    encoder = Chosen()
    for metric in (tree_edit_distance, tree_semantic_distance):
        with pytest.raises(DataError, match=r"2,100 and 2,100 nodes are too large.*4,194,304"):
            metric(large, large, encoder=encoder)
    assert encoder.asked == 0


def test_too_deep_is_told():
    tree = MindMap("end")
    for n in range(400):
        tree = MindMap(f"n{n}", (MindMap("a"), tree, MindMap("b")))
    with pytest.raises(DataError, match=r"steps for trees of this shape\. Leave this metric out"):
        tree_edit_distance(tree, tree)
