"""The function `cluster` and the agent `clustering`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import arena
from arena.agents import KnownPaper
from arena.mindmap import MindMap, read_mind_map
from arena.mindmap.tree import MAX_DEPTH, MAX_HEADINGS
from baselines.clustering import cluster


def paper(paper_id: str, title: str = "", abstract: str = "") -> KnownPaper:
    return KnownPaper(paper_id, title, abstract=abstract)


# Encoders


class Angles:
    """Points on a circle: the vector of a text "..., 30" is the one at 30 degrees."""

    dimension = 2

    def documents(self, texts):
        angles = np.radians([float(text.rsplit(" ", 1)[1]) for text in texts])
        return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def at(*angles):
    return [paper(f"{angle:g}", f"words {angle:g}") for angle in angles]


def shape(tree):
    """The papers of a tree: what is filed, then what is below, without labels."""
    return [*tree.papers, *(shape(child) for child in tree.children)]


def labels(tree):
    return [
        (child.label, labels(child)) if child.children else child.label for child in tree.children
    ]


# Ward's method


def test_the_binary_dendrogram_by_hand():
    # 60 and 64 are nearest, then 0 and 10; a distance is 2 sin(angle / 2).
    assert shape(cluster(at(0, 10, 60, 64), encoder=Angles(), merge="none")) == [
        ["0", "10"],
        ["60", "64"],
    ]
    # 0 and 1, then 20, which is filed at the merge that takes it in; 90 is a side of the root.
    assert shape(cluster(at(90, 20, 0, 1), encoder=Angles(), merge="none")) == [
        ["20", ["0", "1"]],
        ["90"],
    ]


# Labels


def test_weights_by_hand():
    papers = [
        paper("a", "Tree automata", "Regular languages and hash tables."),
        paper("b", "Tree automata of words", "Hash functions."),
        paper("c", "Sorting networks", "Hash joins for sorting."),
        paper("d", "Sorting in parallel", "Bitonic merges."),
    ]
    vectors = {"T": (1.0, 0.0), "S": (0.0, 1.0)}

    class First:
        dimension = 2

        def documents(self, texts):
            return np.array([vectors[text[0]] for text in texts], np.float32)

    # "tree automata": sqrt(2) * (2 + 2 * 2) * ln(5 / 2) = 7.8, "tree" and "automata" 5.5; "hash"
    # is in more papers and no title. "sorting": 1 * (2 + 2 * 2) * ln(5 / 2) = 5.5, "sorting
    # networks" stands in one paper only.
    tree = cluster(papers, "On algorithms", encoder=First(), max_children=2)
    assert [(child.label, child.papers) for child in tree.children] == [
        ("Tree automata", ("a", "b")),
        ("Sorting", ("c", "d")),
    ]
    # What the topic says already names no part of it. Next are sqrt(2) * (1 + 2) * ln 5 = 6.8 of
    # two words in one paper, of which "sort, network" comes before "sort, parallel".
    tree = cluster(papers, "Sorting and the automata of a tree", encoder=First(), max_children=2)
    assert [child.label for child in tree.children] == ["automata of words", "Sorting networks"]


# Every input


def check(tree: MindMap, papers) -> None:
    """Every map is as `organize` takes it, and each paper stands once."""
    filed = [paper for node in tree.nodes() for paper in node.papers]
    assert sorted(filed) == sorted({paper.id for paper in papers})
    below = [node for node in tree.nodes() if node is not tree]
    assert len({node.label.casefold() for node in below}) == len(below)
    assert all(node.label and node.all_papers() for node in below)
    assert tree.size <= MAX_HEADINGS
    assert tree.depth <= MAX_DEPTH
    assert not tree.papers
    read, told = read_mind_map(tree.to_json())
    assert (read, told) == (tree, [])


texts = st.text(max_size=30) | st.sampled_from(
    ["graph", "Graph colouring", "graphs and trees", "the tree", "神经", "", "BERT", "bert model"]
)
made = st.lists(st.builds(paper, st.text(min_size=1, max_size=4).filter(str.isalnum), texts, texts))


@settings(max_examples=60, deadline=None)
@given(
    papers=made,
    topic=texts,
    merge=st.sampled_from(("children", "none")),
    most=st.integers(2, 9),
    data=st.data(),
)
def test_every_paper_is_filed_once(papers, topic, merge, most, data):
    tree = cluster(papers, topic, merge=merge, max_children=most)
    if merge == "children":
        assert all(len(node.children) <= most for node in tree.nodes())
    if papers:
        check(tree, papers)
    first = {paper.id: paper for paper in reversed(papers)}
    again = cluster(
        data.draw(st.permutations(list(first.values()))), topic, merge=merge, max_children=most
    )
    assert [node.label for node in again.nodes()] == [node.label for node in tree.nodes()]
    assert [sorted(node.papers) for node in again.nodes()] == [
        sorted(node.papers) for node in tree.nodes()
    ]


# The agent


def played(corpus, tmp_path, task="organization", **arguments):
    agent = arguments.pop("agent", "clustering")
    summary = arena.run(corpus, task, agent, tmp_path / "run", overwrite=True, **arguments)
    lines = (tmp_path / "run" / "trajectories.jsonl").read_text().splitlines()
    return summary, lines


def test_it_organizes_the_starting_papers(synthetic, tmp_path):
    from arena.tasks import TaskSet

    summary, _ = played(synthetic, tmp_path)
    tasks = TaskSet(synthetic)
    maps = [
        json.loads(line) for line in (tmp_path / "run" / "mind_maps.jsonl").read_text().splitlines()
    ]
    assert len(maps) == summary["counts"]["scored"]
    for entry in maps:
        tree, told = read_mind_map(entry["mind_map"])
        assert not told
        assert tree.label == tasks.topics[entry["topic_id"]].text.lower()
        assert sorted(tree.all_papers()) == sorted(tasks.gold(entry["topic_id"]).gains)
        reads = summary["per_topic"][entry["topic_id"]]["reads"]
        assert reads == min(99, len(tree.all_papers()))
    floor, _ = played(synthetic, tmp_path, agent="random")
    headline = "paper_filing_agreement"
    assert summary["mean"][headline] > floor["mean"][headline] + 0.05


@pytest.mark.parametrize(
    "budget", [{"max_searches": 0}, {"max_steps": 1}, {"max_characters": 3_000}]
)
def test_it_submits_no_map_without_papers(synthetic, tmp_path, budget):
    summary, _ = played(synthetic, tmp_path, **budget, topics=1, references="run")
    (entry,) = summary["per_topic"].values()
    assert not entry["truncated"]
    assert entry["paper_filing_agreement"] == 0
