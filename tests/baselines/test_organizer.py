"""The function `arrange` and the agent `organizer`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

import arena
from arena.agents import KnownPaper
from arena.errors import UnknownNameError
from arena.mindmap import read_mind_map
from baselines.organizer import BIAS, SLOPE, Organizer, arrange, best_cut, likeness


def leaves(tree):
    return [node for node in tree.nodes() if not node.children]


@settings(max_examples=50, deadline=None)
@given(labels=st.lists(st.integers(0, 4), min_size=3, max_size=25))
def test_certain_pairs_give_their_own_groups(labels):
    same = np.equal.outer(labels, labels)
    found = best_cut(np.where(same, 99.0, -99.0))
    place = {paper: number for number, group in enumerate(found) for paper in group}
    if 1 < len(set(labels)) < len(labels):
        assert adjusted_rand_score(labels, [place[n] for n in range(len(labels))]) == 1
    else:
        assert found == [list(range(len(labels)))]


@settings(max_examples=30, deadline=None)
@given(count=st.integers(3, 20), seed=st.integers(0, 999))
def test_no_cut_has_a_larger_expected_index(count, seed):
    noise = np.random.default_rng(seed).normal(size=(count, count))
    alike = (noise + noise.T) * 2
    p = 1 / (1 + np.exp(-(SLOPE * alike + BIAS)))
    np.fill_diagonal(p, 1)
    upper = np.triu_indices(count, 1)

    def index(place):
        # Hubert and Arabie's, with the expected counts of pairs of the unknown partition.
        together = np.equal.outer(place, place)[upper]
        chance = together.sum() * p[upper].sum() / len(together)
        return (p[upper][together].sum() - chance) / (
            (together.sum() + p[upper].sum()) / 2 - chance
        )

    merges = linkage(squareform(1 - p, checks=False), "average")
    best = max(index(fcluster(merges, k, "maxclust")) for k in range(2, count + 1))
    found = best_cut(alike)
    place = np.empty(count)
    for number, group in enumerate(found):
        place[group] = number
    assert best <= 1e-6 if len(found) == 1 else index(place) == pytest.approx(best, abs=1e-4)


def test_likeness_by_hand():
    # Cosines of the centred vectors: 1 for (0, 1) and (2, 3), else -1. Terms: "tree" is in 0 and 1
    # only, "graph" in 2 and 3 only: cosines 1 and 0. Of six pairs 2 have 2**.5, 4 have -(.5**.5).
    papers = [
        KnownPaper(str(n), title) for n, title in enumerate(["tree", "tree", "graph", "graph"])
    ]
    found = likeness(np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]]), papers)
    assert found[0, 1] == found[2, 3] == pytest.approx(2**0.5)
    assert found[0, 2] == found[1, 3] == pytest.approx(-(0.5**0.5))


texts = st.text(max_size=20) | st.sampled_from(["graph", "Graph colouring", "trees", "神经", ""])
made = st.lists(
    st.builds(KnownPaper, st.text("abcdef", min_size=1, max_size=2), texts, abstract=texts)
)


@settings(max_examples=80, deadline=None)
@given(papers=made, topic=texts, data=st.data())
def test_every_paper_is_in_one_leaf(papers, topic, data):
    tree = arrange(papers, topic)
    filed = [paper for leaf in leaves(tree) for paper in leaf.papers]
    assert sorted(filed) == sorted({paper.id for paper in papers})
    assert all(not node.papers for node in tree.nodes() if node.children)
    assert bool(tree.children) == bool(papers)
    if papers:
        assert read_mind_map(tree.to_json()) == (tree, [])
    first = list({paper.id: paper for paper in reversed(papers)}.values())
    again = arrange(data.draw(st.permutations(first)), topic)
    assert [(node.label, set(node.papers)) for node in again.nodes()] == [
        (node.label, set(node.papers)) for node in tree.nodes()
    ]


def test_the_agent_organizes_the_starting_papers(synthetic, tmp_path):
    scores = {}
    for agent in ("organizer", "random"):
        output = tmp_path / agent
        summary = arena.run(synthetic, "organization", agent, output, topics=3)
        scores[agent] = summary["mean"]["paper_filing_agreement"]
    assert scores["organizer"] > scores["random"]
    lines = (tmp_path / "organizer" / "mind_maps.jsonl").read_text().splitlines()
    maps = [json.loads(line) for line in lines]
    assert len(maps) == 3
    for entry in maps:
        tree, repairs = read_mind_map(entry["mind_map"])
        assert not repairs and all(not node.papers for node in tree.nodes() if node.children)
    assert Organizer().notes()["encoder"]["model"].startswith("wordllama")
    with pytest.raises(UnknownNameError, match="Did you mean 'static'"):
        Organizer(encoder="statc")
