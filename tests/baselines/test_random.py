"""The agent `random` in the stage organization: the floor."""

from __future__ import annotations

import json
import random

import pytest

import arena
from arena.agents import KnownPaper
from arena.mindmap import read_mind_map
from arena.tasks import TaskSet
from baselines.random import random_tree

WORDS = ["graph", "tree", "sort", "hash", "cache", "queue", "heap", "trie", "join", "scan"]


def papers(count):
    """Paper i has the words up to its number in its title, so that "graph" is in all titles."""
    return [KnownPaper(f"p{i:03}", ". ".join(WORDS[: 1 + i % len(WORDS)])) for i in range(count)]


def headings(tree):
    return [[child["label"] for child in top["children"]] for top in tree["children"]]


@pytest.mark.parametrize("seed", range(30))
def test_its_size_is_that_of_real_maps(seed):
    terms = [KnownPaper(f"p{i}", f"term{i:02}x") for i in range(60)]
    tree = random_tree(terms, "Topic", random.Random(seed))
    assert 3 <= len(tree["children"]) <= 5
    assert all(2 <= len(below) <= 4 for below in headings(tree))
    read, told = read_mind_map(tree)
    assert not told
    assert 9 <= read.size <= 25
    assert len(read.labels()) == read.size
    assert sorted(read.all_papers()) == sorted(paper.id for paper in terms)
    assert not any(top["papers"] for top in tree["children"])


def test_terms_are_frequent_ones():
    """The 50 most frequent of the titles, shown as they stand there; of equals the first."""
    known = [
        KnownPaper(f"p{i}-{j}", f"Word{i:02}") for i in range(70) for j in range(2 if i < 20 else 1)
    ]
    seen = set()
    for seed in range(60):
        tree, _ = read_mind_map(random_tree(known, "t", random.Random(seed)))
        seen |= set(tree.labels())
    assert seen == {f"Word{i:02}" for i in range(50)}


@pytest.mark.parametrize("references", ["oracle", "run"])
def test_it_submits_a_map(synthetic, tmp_path, references):
    summary = arena.run(
        synthetic, "organization", "random", tmp_path / "run", references=references
    )
    tasks = TaskSet(synthetic)
    for line in (tmp_path / "run" / "mind_maps.jsonl").read_text().splitlines():
        entry = json.loads(line)
        tree, told = read_mind_map(entry["mind_map"])
        assert not told
        assert 9 <= tree.size <= 25
        gold = set(tasks.gold(entry["topic_id"]).gains)
        if references == "oracle":
            assert set(tree.all_papers()) == gold
        else:
            assert len(tree.all_papers()) == 100
    for entry in summary["per_topic"].values():
        assert entry["searches"] == (0 if references == "oracle" else 10)
        assert not entry["truncated"]
    assert 0 < summary["mean"]["heading_soft_recall"] < 1
