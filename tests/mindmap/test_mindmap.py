"""The tree, and the reader of everything that calls itself a mind-map."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.errors import DataError
from arena.mindmap import MindMap, read_mind_map


def leaf(label: str, *papers: str) -> MindMap:
    return MindMap(label, papers=papers)


TREE = MindMap(
    "root",
    (MindMap("a", (leaf("b", "p2"), leaf("a", "p1", "p2")), ("p1",)), leaf("b", "p3")),
    ("p0",),
)

words = st.text("ab é中\u00a0\n", max_size=3)


@st.composite
def trees(draw: st.DrawFn, depth: int = 4) -> MindMap:
    """Return a tree as the reader makes it: nothing in it is to be repaired."""
    labels = st.text("abcé中", min_size=1, max_size=3)
    papers = tuple(draw(st.lists(st.text(max_size=3), unique=True, max_size=3)))
    below = draw(st.lists(labels, unique=True, max_size=3)) if depth else []
    made = [draw(trees(depth - 1)) for _ in below]
    children = (MindMap(k, v.children, v.papers) for k, v in zip(below, made, strict=True))
    return MindMap(draw(labels), tuple(children), papers)


# The tree


def test_what_a_tree_tells():
    assert [node.label for node in TREE.nodes()] == ["root", "a", "b", "a", "b"]
    assert TREE.labels() == ["a", "b"]
    assert TREE.all_papers() == ["p0", "p1", "p2", "p3"]
    assert (TREE.size, TREE.depth) == (4, 2)
    assert (leaf("x").size, leaf("x").depth, leaf("x").labels()) == (0, 0, [])
    assert MindMap("x", (leaf("x"),)).labels() == ["x"]
    assert repr(TREE) == "<MindMap 'root': 4 nodes, 4 papers>"
    assert MindMap("r", (leaf("a", "p"),), ("q",)).to_json() == {
        "label": "r",
        "children": [{"label": "a", "children": [], "papers": ["p"]}],
        "papers": ["q"],
    }


def chain(length: int) -> MindMap:
    tree = leaf("0")
    for number in range(1, length + 1):
        tree = MindMap(str(number), (tree,))
    return tree


def test_the_deepest_map_that_can_be_read():
    tree = chain(64)
    assert tree == chain(64)
    assert hash(tree) == hash(chain(64))
    assert tree != chain(65).children[0].children[0]
    assert pickle.loads(pickle.dumps(tree)) == copy.deepcopy(tree) == tree
    assert (tree.size, tree.depth, len(tree.labels())) == (64, 64, 64)
    assert read_mind_map(tree.to_json()) == (tree, [])
    with pytest.raises(DataError, match="levels below the root"):
        read_mind_map(chain(65).to_json())


# The forms


@given(trees())
def test_our_own_form_comes_back(tree):
    value = tree.to_json()
    assert read_mind_map(value) == (tree, [])
    assert read_mind_map(json.dumps(value)) == (tree, [])


def test_typology():
    value = {
        "A": None,
        "B": "b",
        "C": ["c", {"d": None, "e": ["f"]}, ["g"]],
        "D": {"example": "(e.g., [3])", "Examples ": ["x"], "h": {"i": None}},
        "E": {"name": "j", "subtopics": ["k"]},
    }
    tree = MindMap(
        "",
        (
            leaf("A"),
            MindMap("B", (leaf("b"),)),
            MindMap("C", (leaf("c"), leaf("d"), MindMap("e", (leaf("f"),)), leaf("g"))),
            MindMap("D", (MindMap("h", (leaf("i"),)),)),
            MindMap("E", (MindMap("j", (leaf("k"),)),)),
        ),
    )
    notes = ["noise keys dropped (2): 'example' under 'D', 'Examples ' under 'D'."]
    assert read_mind_map(value) == (tree, notes)
    assert read_mind_map(json.dumps(value)) == (tree, notes)


ROOTED = MindMap("Sorting", (MindMap("Quick"), MindMap("Merge", (MindMap("Runs"),))))
LEVELS = [(1, "Sorting"), (2, "Quick"), (2, "Merge"), (3, "Runs")]
IDS = {"a": "Sorting", "b": "Quick", "c": "Merge", "d": "Runs"}
ABOVE = {"b": "a", "c": "a", "d": "c"}


@pytest.mark.parametrize(
    ("value", "tree"),
    [
        ({"text": "Sorting", "nodes": [{"text": "Quick"}, {"text": "Merge", "nodes": [
            {"text": "Runs"}]}]}, ROOTED),
        ([{"level": level, "title": title} for level, title in LEVELS], ROOTED),
        ([{"id": k, "label": v, "parent": ABOVE.get(k)} for k, v in IDS.items()], ROOTED),
        ({"nodes": [{"id": k, "name": v} for k, v in IDS.items()],
          "edges": [{"from": a, "to": b} for b, a in ABOVE.items()]}, ROOTED),
    ],
)  # fmt: skip
def test_shapes_that_models_and_tools_write(value, tree):
    for written in (value, json.dumps(value)):
        found, notes = read_mind_map(written)
        assert found == tree
        assert notes[0].startswith("another shape of objects read")


def test_a_noise_key_that_holds_headings_is_a_heading():
    tree, notes = read_mind_map({"Examples": {"a": None}, "B": {"example": [{"c": None}]}})
    assert tree.labels() == ["Examples", "a", "B", "example", "c"]
    assert notes == []


@pytest.mark.parametrize(
    ("value", "labels"),
    [
        ({"name": None, "label": None}, ["name", "label"]),  # no node: labels of a typology
        ({"name": "a", "papers": []}, []),
        ({"name": "a", "b": None}, ["name", "a", "b"]),
        ({"c": {"label": "a", "b": None}}, ["c", "label", "a", "b"]),
        ({"c": [{"label": "a", "papers": []}, {"name": "b"}]}, ["c", "a", "b"]),
    ],
)
def test_which_form_an_object_has(value, labels):
    assert read_mind_map(value)[0].labels() == labels


# Repairs


@pytest.mark.parametrize(
    ("value", "tree", "notes"),
    [
        (
            {"label": " r\n", "children": ["a \t b"]},
            MindMap("r", (leaf("a b"),)),
            ["whitespace in labels collapsed (2): ' r\\n', 'a \\t b'."],
        ),
        (
            {
                "label": "r",
                "children": [
                    {"label": "a", "children": ["x"], "papers": ["p"]},
                    "b",
                    {"label": "a", "children": ["y", "x"], "papers": ["q", "p"]},
                ],
            },
            MindMap("r", (MindMap("a", (leaf("x"), leaf("y")), ("p", "q")), leaf("b"))),
            [
                "siblings of one label merged (2): 'a' under 'r', 'x' under 'a'.",
                "papers listed twice kept once (1): 'p' under 'a'.",
            ],
        ),
        (
            {"label": "r", "children": ["a", {"label": " ", "children": ["b"], "papers": ["p"]}]},
            MindMap("r", (leaf("a"), leaf("b")), ("p",)),
            ["empty labels left out, what is below lifted (1): ' ' under 'r'."],
        ),
        (
            {"A": [2015, 1.5, True, None], "B": False},
            MindMap("", (MindMap("A", (leaf("2015"), leaf("1.5"))), leaf("B"))),
            ["numbers made labels (2): 2015 under 'A', 1.5 under 'A'.",
             "nulls in lists and booleans dropped (3): True under 'A', None under 'A', "
             "False under 'B'."],
        ),
        (
            {"label": "r", "children": [{"label": "a", "size": 3}], "title": "x", "subtopics": []},
            MindMap("r", (leaf("a"),)),
            ["unknown keys dropped (3): 'title' under 'r', 'subtopics' under 'r', "
             "'size' under 'a'."],
        ),
    ],
)  # fmt: skip
def test_repairs_are_told(value, tree, notes):
    assert read_mind_map(value) == (tree, notes)


def test_many_repairs_make_one_sentence():
    _, notes = read_mind_map({f"k{n}": {"example": "x"} for n in range(1000)})
    assert len(notes) == 1
    assert notes[0].startswith("noise keys dropped (1000): 'example' under 'k0', ")
    assert notes[0].endswith("'example' under 'k4' and 995 more.")


# Refusals


def nested(depth: int) -> dict[str, object]:
    value: dict[str, object] = {}
    for number in range(depth):
        value = {f"n{number}": value}
    return value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('{"a": NaN}', "NaN is not a JSON value"),
        ("[" * 1_000_000, "nests too deep"),
        ("  [1, 2]", "element 1 of the list is 1: a mind-map is an object, a list of objects"),
        ([], "no node"),
        (nested(65), "65 levels below the root"),
        ({f"n{n}": None for n in range(10_001)}, "more than 10,000 nodes"),
        ({"label": 1, "children": []}, "a label at or under the root is 1"),
        ({"label": "a", "children": [{"b": 1}]}, "none of them is 'label' or 'name'"),
        (
            {"nodes": [{"id": 1, "label": "a"}], "edges": [{"source": 1, "target": 1}]},
            "below itself",
        ),
        ({"label": "a", "papers": "p1"}, "papers of 'a' are 'p1': expected a list"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else type(value).__name__,
)
def test_refusals(value, message):
    with pytest.raises(DataError, match=message) as error:
        read_mind_map(value)
    assert len(str(error.value)) < 400


KEYS = st.sampled_from(["label", "name", "children", "subtopics", "papers", "example", "a", ""])
LABELS = words | st.text(st.characters(), max_size=4)


def containers(inner: st.SearchStrategy, keys: st.SearchStrategy) -> st.SearchStrategy:
    return st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4)


def nodes(inner: st.SearchStrategy) -> st.SearchStrategy:
    lists = st.lists(inner | LABELS, max_size=4)
    node = {"label": LABELS, "children": lists, "papers": st.lists(LABELS, max_size=3)}
    return st.fixed_dictionaries(node)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | LABELS
plain = st.recursive(LABELS | st.none() | st.integers(), lambda x: containers(x, LABELS))
forms = st.recursive(LABELS, nodes)
wild = st.recursive(SCALARS, lambda x: containers(x, KEYS | LABELS))
junk = forms | plain | wild | st.dictionaries(LABELS, plain) | st.dictionaries(KEYS, wild)


@settings(max_examples=100)
@given(junk)
def test_junk_is_read_or_refused(value):
    try:
        tree, notes = read_mind_map(value)
    except DataError:
        return
    assert all(isinstance(sentence, str) for sentence in notes)
    # What came out needs no further repair, and can be written.
    text = json.dumps(tree.to_json(), ensure_ascii=False)
    text.encode()
    assert read_mind_map(text) == (tree, [])
    assert all(" ".join(node.label.split()) == node.label for node in tree.nodes())


# What is out there


def values(path):
    with path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_taxonomies_of_real_surveys(real_data):
    def names(node: dict) -> list[str]:
        below = [name for child in node["subtopics"] for name in names(child)]
        return [" ".join(node["name"].split()), *below]

    records = values(real_data.directory / "taxonomies.jsonl")
    assert len(records) == 333
    for record in records:
        tree, _ = read_mind_map(record["tree"])
        expected = dict.fromkeys(names(record["tree"])[1:])
        assert tree.labels() == [name for name in expected if name]


def test_taxobench_itself(real_data):
    def papers(node: dict) -> list[str]:
        below = [paper for child in node.get("subtopics", []) for paper in papers(child)]
        return [*node.get("papers", []), *below]

    for record in values(real_data.directory / "taxobench" / "data.jsonl"):
        tree, notes = read_mind_map(record["gt"])
        assert notes == []
        assert tree.all_papers() == papers(record["gt"])
