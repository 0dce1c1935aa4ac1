"""Soft cardinality and recall against examples worked out by hand, and their laws."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.encoders import ENCODERS, make_encoder
from arena.errors import DataError, UnknownNameError
from arena.mindmap import (
    MindMap,
    cardinality,
    evaluate,
    forget_labels,
    identity,
    read_mind_map,
)
from arena.mindmap.metrics.heading_overlap import heading_soft_recall

NAMES = ["heading_soft_recall"]


class Chosen:
    """An encoder that knows the vectors of some labels."""

    config: dict[str, object] = {}  # noqa: RUF012 - never changed

    def __init__(self, **vectors):
        self.vectors = {label: np.array([vector], float) for label, vector in vectors.items()}

    def queries(self, texts):
        (label,) = texts  # each by itself: company must not show in a vector
        return self.vectors[label]


# Cosines: x and y 0, x and z 0.6, y and z 0.8; w is twice x; n is a cosine of -0.99 from x; o is
# the opposite of x; 0 has no direction.
PLANE = Chosen(
    x=[1, 0], y=[0, 3], z=[3, 4], w=[2, 0], n=[-0.99, math.sqrt(1 - 0.99**2)], o=[-1, 0],
    nought=[0, 0], void=[0, 0],
)  # fmt: skip
# Between four orthogonal labels: cosine 1/2 to each.
SPACE = Chosen(a=[1, 0, 0, 0], b=[0, 1, 0, 0], c=[0, 0, 1, 0], d=[0, 0, 0, 1], between=[1, 1, 1, 1])


def tree(*labels: str) -> MindMap:
    return MindMap("a root's label does not count", tuple(MindMap(label) for label in labels))


def near(value: float, rel: float = 1e-7) -> object:
    return pytest.approx(value, rel=rel)  # vectors are rounded to 2^-25


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("", 0.0),
        ("x", 1.0),
        ("xx", 1.0),
        ("xy", 2.0),
        ("xw", 1.0),  # one vector: 1/2 + 1/2
        ("xwy", 2.0),
        ("xz", 2 / 1.6),
        ("xyz", 1 / 1.6 + 1 / 1.8 + 1 / 2.4),
        ("xn", 2.0),  # a negative cosine counts as 0
    ],
)
def test_cardinality(labels, expected):
    assert cardinality(list(labels), PLANE) == near(expected)


@pytest.mark.parametrize(
    ("predicted", "gold", "recall"),
    [
        # c(P) = 1, c(G) = 2, c(P u G) = 2
        (tree("x"), tree("x", "y"), 1 / 2),
        (tree("x", "y"), tree("x"), 1.0),
        (tree("x"), tree("o"), 0.0),
        (tree("x"), tree("w"), 1.0),
        # c(P) = 2 / 1.6 = 1.25, c(G) = 2, c(P u G) = 1.5972...: more than all of P is shared
        (tree("x", "z"), tree("x", "y"), 1.65277777777 / 2),
        (tree(), tree("x"), 0.0),
    ],
)
def test_recall(predicted, gold, recall):
    assert evaluate(predicted, gold, NAMES, PLANE) == {NAMES[0]: near(recall)}


def test_the_formula_of_the_paper_divides_by_the_constructed_map():
    """Section 5 of ResearchArena: of 1.6527 shared, c(B) is 1.25 and c(A) 2, as above."""
    name = "heading_soft_recall_paper"
    made, gold = tree("x", "z"), tree("x", "y")
    assert evaluate(made, gold, [name], PLANE) == {name: near(1.65277777777 / 1.25)}
    assert evaluate(tree(), gold, [name], PLANE) == {name: 0.0}


def test_the_range_is_open_above():
    """A label at cosine 1/2 to four orthogonal ones shares the square root of four with them.

    c(between) = 1; c(abcd) = 4; in the union a to d have 1 / 1.5 each and between 1 / 3, so that
    1 + 4 - 3 = 2.
    """
    orthogonal = tree("a", "b", "c", "d")
    assert heading_soft_recall(tree("between"), orthogonal, encoder=SPACE) == near(0.5)
    assert heading_soft_recall(orthogonal, tree("between"), encoder=SPACE) == near(2.0)


vectors = st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=1, max_size=8)


def by_the_formula(rows: np.ndarray) -> float:
    """Return the cardinality as the paper writes it, in plain numpy."""
    lengths = np.linalg.norm(rows, axis=1)
    cosines = rows @ rows.T / np.outer(lengths, lengths)
    return float((1 / np.maximum(cosines, 0).sum(1)).sum())


@given(vectors, st.data())
def test_the_formula_and_its_laws(rows, data):
    rows = [row for row in rows if any(row)] or [[1, 0, 0]]
    labels = [f"l{n}" for n in range(len(rows))]
    encoder = Chosen(**dict(zip(labels, rows, strict=True)))
    whole = cardinality(labels, encoder)
    assert whole == near(by_the_formula(np.array(rows, float)))
    assert 1 - 1e-6 <= whole <= len(labels)
    assert cardinality(data.draw(st.permutations(labels)), encoder) == whole
    gold = data.draw(st.lists(st.sampled_from(labels), min_size=1))
    predicted = data.draw(st.lists(st.sampled_from(labels)))
    assert heading_soft_recall(tree(*gold), tree(*gold), encoder=encoder) == 1.0
    assert heading_soft_recall(tree(*predicted), tree(*gold), encoder=encoder) >= -1e-9


@pytest.mark.parametrize("vector", [[math.nan, 1], [math.inf, 1], [[1, 2]]])
def test_a_broken_encoder_is_told(vector):
    with pytest.raises(DataError, match="not finite or of the wrong shape"):
        cardinality(["x"], Chosen(x=vector))


def test_more_labels_than_can_be_compared():
    with pytest.raises(DataError, match="32,769 labels are too many to compare: at most 32,768"):
        cardinality([str(number) for number in range(32_769)], PLANE)


# The same bits, whatever came before

TERMS = ["graph", "neural", "dense", "sparse", "ranking", "survey", "memory", "agent", "map", "art"]
MAPS = [
    tree(
        *(f"{random.Random(n * 60 + i).choice(TERMS)} {TERMS[i % 10]} {i // 7}" for i in range(60))
    )
    for n in range(4)
]


def scores() -> list[str]:
    return [
        value.hex() for a in MAPS for b in MAPS for value in evaluate(a, b, NAMES).values()
    ]  # fmt: skip


def test_what_is_cached_does_not_show():
    warm = scores()
    assert scores() == warm
    forget_labels()
    for label in reversed(MAPS[3].labels()):
        cardinality([label, "something else"], "static")
    assert scores() == warm
    plain = make_encoder("static", {})
    assert evaluate(MAPS[0], MAPS[1], NAMES, plain) == evaluate(MAPS[0], MAPS[1], NAMES)


def test_neither_order_nor_blocks_show():
    labels = [f"{term} {number}" for number in range(60) for term in TERMS]  # 600: two blocks
    assert cardinality(labels, "static") == cardinality(labels[::-1], "static")
    encoder = make_encoder("static", {})
    assert cardinality(labels, encoder) == near(by_the_formula(encoder.queries(labels)), 1e-5)
    a, b = MAPS[:2]
    nested = MindMap("x", (MindMap("y", a.children[::-1]),)).children[0]
    assert evaluate(nested, b, NAMES) == evaluate(a, b, NAMES)


# By name


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((tree("x"), tree("x"), ["heading_soft_recal"]), UnknownNameError,
         "no metric named 'heading_soft_recal'. Did you mean 'heading_soft_recall'"),
        ((tree("x"), tree("x"), NAMES, None), DataError, "encoder None: expected the name"),
        ((tree("x"), tree(), NAMES), DataError, "no label below its root: leave this topic out"),
    ],
)  # fmt: skip
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        evaluate(*arguments)


def test_identity():
    names = identity()
    assert names["encoder"] == "static"
    assert names["config"] == make_encoder("static", {}).config
    json.dumps(names)
    with pytest.raises(UnknownNameError, match="statik"):
        identity("statik")


def test_labels_carry_no_instruction_for_queries(monkeypatch):
    class Instructed:
        def __init__(self, query_instruction="find: "):
            self.config = {"query_instruction": query_instruction}

        def queries(self, texts):
            return np.array([[1.0, len(self.config["query_instruction"])] for _ in texts])

    assert "instructed" not in ENCODERS.names()
    monkeypatch.setitem(ENCODERS._items, "instructed", Instructed)
    forget_labels()
    assert identity("instructed")["config"] == {"query_instruction": ""}


# Real maps


def test_real_maps(real_data):
    with (real_data.directory / "taxonomies.jsonl").open(encoding="utf-8") as file:
        maps = [read_mind_map(json.loads(line)["tree"])[0] for line in file]
    maps = [tree for tree in maps if tree.size]
    assert len(maps) == 327  # 6 of the 333 surveys have a title and no heading
    for tree in maps:
        assert evaluate(tree, tree, NAMES) == dict.fromkeys(NAMES, 1.0)
    shuffled = [evaluate(a, b, NAMES)[NAMES[0]] for a, b in zip(maps[1:], maps[:-1], strict=True)]
    assert 0 <= min(shuffled) < max(shuffled)
    assert sorted(shuffled)[163] < 0.75  # the median of strangers
