"""Filing: answers of a model become a tree with every paper in one leaf."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.llm import ParseError
from arena.mindmap import MindMap, read_mind_map
from baselines.bottom_up import Filing
from baselines.parts.trees import json_of

TITLES = ["Alpha Waves", "Beta: Decay", "Gamma rays", "3 D", "", "Alpha waves"]
IDS = ["id/1", "id/2", "id/3", "id/4", "id/5", "id/6"]
ALL = range(1, 7)


def filed(*answers, asked=ALL):
    filing = Filing("topic", TITLES)
    for answer in answers:
        filing.take(filing.read(answer, asked), asked)
    return filing


def drawn(filing):
    """The map as nested dicts, leaves as lists of the numbers of papers."""
    tree = filing.mind_map(IDS)
    assert tree.label == "topic"
    return outline(tree)


def outline(node):
    if node.children:
        assert not node.papers
        return {child.label: outline(child) for child in node.children}
    return [int(paper[3:]) for paper in node.papers]


@pytest.mark.parametrize(
    "answer",
    [
        {"name": "T", "subtopics": [{"name": "X", "papers": [2, 1]}, {"name": "Y", "papers": [3]}]},
        {"label": "T", "children": [{"label": " X\n", "papers": ["1", "[2]"]},
                                    {"label": "Y", "papers": "3"}]},
        {"T": {"X": [1, 2], "Y": {"3": "Gamma rays"}}},
        {"X": ["alpha waves", "Beta decay"], "Y": {"Gamma Rays": None}},
        {"x": [1], "X ": [2], "Y": {"": {"papers": [3]}}},
    ],
)  # fmt: skip
def test_forms_of_a_tree(answer):
    assert drawn(filed(answer, asked=(1, 2, 3))) in (
        {"X": [1, 2], "Y": [3], "Other": [4, 5, 6]},
        {"x": [1, 2], "Y": [3], "Other": [4, 5, 6]},
    )


def test_titles_go_before_numbers_and_headings_may_have_numbers():
    filing = filed({"X": {"papers": ["3 D", "GPT-4"]}, "GPT-4": [1], "1. Sub": {"2020": [2]}})
    assert drawn(filing) == {
        "X": [4], "GPT-4": [1], "1. Sub": {"2020": [2]}, "Other": [3, 5, 6],
    }  # fmt: skip
    assert filing.unknown == ["GPT-4"]


def test_papers_at_a_heading_with_others_below_go_to_a_leaf():
    filing = filed({"name": "T", "papers": [6], "subtopics": [
        {"name": "X", "papers": [1, 2], "subtopics": [{"name": "General", "papers": [3]}]},
        {"name": "Y", "papers": [4], "subtopics": ["empty"]},
        {"name": "Other", "subtopics": [{"name": "Z", "papers": [5]}]},
    ]})  # fmt: skip
    filing.take(filing.read({"Other": {"General": {"General": {"W": [3]}}}}, [3]), [3])
    assert filing.lost == []
    assert drawn(filing) == {
        "X": [1, 2], "Y": [4], "Other": {"Z": [5], "General": {"General": {"W": [3]}}},
        "General": [6],
    }  # fmt: skip
    filing = filed({"Other": {"Z": [1], "General": {"W": [2]}}, "Q": [3]})
    assert drawn(filing) == {
        "Other": {"Z": [1], "General": {"W": [2], "General": [4, 5, 6]}}, "Q": [3],
    }  # fmt: skip


def test_later_answers_go_into_the_same_tree():
    filing = Filing("topic", TITLES)
    filing.take(filing.read({"T": {"X": {"Deep": [1]}, "Y": [2]}}, [1, 2]), [1, 2])
    later = {"t": {"x": {"NEW": [3], "deep": [1]}}, "deep": [4], "Y": [2, 77], "Topic": {"V": [5]}}
    filing.take(filing.read(later, [3, 4, 5]), [3, 4, 5])
    assert drawn(filing) == {"X": {"Deep": [1, 4], "NEW": [3]}, "Y": [2], "V": [5], "Other": [6]}
    filing.take(filing.read({"name": "Y", "papers": [6, 1]}, [6]), [6])
    assert drawn(filing)["Y"] == [2, 6]
    filing.take(filing.read({"Y": [1]}, [1]), [1])  # it was asked about: it moves
    assert drawn(filing) == {"X": {"Deep": [4], "NEW": [3]}, "Y": [1, 2, 6], "V": [5]}
    assert filing.unknown == ["77"]


def test_a_copied_example_is_not_an_answer():
    prompt = 'In <typology>...</typology>: <typology>\n{"a": [1]}\n</typology>'
    assert json_of('<typology>{"b": [1]}', prompt) == {"b": [1]}
    assert json_of("I use <typology>...</typology>:\n{'b': [1], ", prompt) == {"b": [1]}
    with pytest.raises(ParseError, match="It is the example"):
        json_of('```json\n{"a": [1],}\n```', prompt)


def test_a_tree_that_is_too_deep_is_folded():
    answer = [1]
    for level in reversed(range(1, 91)):
        answer = {f"level {level}": answer, f"side {level}": [2] if level == 80 else None}
    tree = filed(answer).mind_map(IDS)
    assert tree.depth == 64
    (leaf,) = [node for node in tree.nodes() if "id/1" in node.papers]
    assert (leaf.label, leaf.papers) == ("level 64", ("id/1", "id/2"))
    read_mind_map(tree.to_json())


def test_a_tree_that_is_too_large_is_folded():
    """Headings of one paper each: 20 with 30 below them each, 620 in all."""
    count = 600
    filing = Filing("t", [f"title {n}" for n in range(count)])
    answer = {
        f"top {t}": {f"leaf {n}": [n] for n in range(1 + 30 * t, 31 + 30 * t)} for t in range(20)
    }
    filing.take(filing.read(answer, range(1, count + 1)), range(1, count + 1))
    tree = filing.mind_map([f"p{n}" for n in range(1, count + 1)])
    # Each of the last four gives up its 30.
    assert [len(top.children) for top in tree.children] == [30] * 16 + [0] * 4
    assert tree.size == 500
    assert tree.children[16].papers == tuple(f"p{n}" for n in range(481, 511))


KEYS = st.sampled_from(
    ["name", "label", "title", "subtopics", "children", "papers", "X", "x", "Y", "topic", "Other",
     "General", "", "1", "7", "example"]
)  # fmt: skip
SCALARS = (
    st.none() | st.booleans() | st.integers(-3, 12) | st.floats(allow_nan=False) | KEYS
    | st.sampled_from([*TITLES, "1, 2", "[3]", "4. D", "p5", "9" * 30]) | st.text(max_size=5)
)  # fmt: skip
ANSWERS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=30,
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(ANSWERS, st.sets(st.integers(1, 6))), max_size=4), st.booleans())
def test_whatever_is_answered_each_paper_is_in_one_leaf(answers, as_text):
    filing = Filing("topic", TITLES)
    for answer, asked in answers:
        try:
            value = json_of(json.dumps(answer)) if as_text else answer
            tree = filing.read(value, asked)
        except ParseError:
            continue
        before = {number for number in ALL if number not in filing.lost}
        filing.take(tree, asked)
        now = {number for number in ALL if number not in filing.lost}
        assert before <= now <= before | asked
        hold(filing)
    hold(filing)


def hold(filing):
    lost = set(filing.lost)
    tree = filing.mind_map(IDS)
    where = [(paper, node) for node in tree.nodes() for paper in node.papers]
    assert sorted(paper for paper, _ in where) == IDS
    assert not any(node.children for _, node in where)
    assert tree.size <= 500
    assert tree.depth <= 64
    assert all(node.papers for node in tree.nodes() if not node.children)
    again, told = read_mind_map(tree.to_json())  # the tool takes it as it is
    assert (again, told) == (tree, [])
    assert isinstance(tree, MindMap)
    for paper, node in where:
        if int(paper[3:]) in lost:
            assert node.label in ("Other", "General")
