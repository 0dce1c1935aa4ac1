"""Mind-maps of headings alone, as most published taxonomies are: which metric is the headline."""

from __future__ import annotations

import json

import pytest
from helpers import Memory

import arena
from arena.cli import main
from arena.corpus import Corpus
from arena.envs import ResearchEnv
from corpus_builder.build import build

WORDS = ("graphs", "proteins", "markets", "glaciers", "verbs", "engines")
PAPERS = [
    {"id": f"{word}{n}", "title": f"On {word}, part {n}", "date": "2019", "abstract": f"Of {word}."}
    for word in WORDS
    for n in range(4)
]


def topic(word, filed):
    """Return a topic, whose map has two headings, and files its papers under them if `filed`."""
    papers = [f"{word}{n}" for n in range(4)]
    headings = [(f"History of {word}", papers[:2]), (f"Uses of {word}", papers[2:])]
    below = [{"name": name, "papers": its if filed else []} for name, its in headings]
    return {
        "id": word, "title": f"A survey of {word}", "date": "2020", "references": papers,
        "mind_map": {"name": word, "subtopics": below},
    }  # fmt: skip


@pytest.fixture(scope="module")
def headings(tmp_path_factory):
    directory = tmp_path_factory.mktemp("headings") / "corpus"
    build(Memory(PAPERS, [topic(word, False) for word in WORDS]), directory)
    return directory


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Five topics whose maps file papers, and one whose map has headings alone."""
    directory = tmp_path_factory.mktemp("mixed") / "corpus"
    build(Memory(PAPERS, [topic(word, word != "verbs") for word in WORDS]), directory)
    return directory


def test_without_filed_papers_headings_count(headings, tmp_path):
    oracle = arena.run(headings, "organization", "oracle", tmp_path / "oracle")
    random = arena.run(headings, "organization", "random", tmp_path / "random")
    assert oracle["headlines"] == ["heading_soft_recall"]
    assert "left_out" not in oracle
    assert oracle["mean"]["heading_soft_recall"] == pytest.approx(1.0)
    assert random["mean"]["heading_soft_recall"] < 0.9
    assert [row["return"] for row in oracle["per_topic"].values()] == pytest.approx([1.0] * 6)
    assert oracle["mean"]["paper_filing_agreement"] is None


def test_a_topic_whose_map_files_nothing_is_counted(mixed, tmp_path, capsys):
    command = ["run", "--corpus", str(mixed), "--task", "organization", "--agent", "oracle"]
    assert main([*command, "--output", str(tmp_path / "run")]) == 0
    said = "Mean over 5 of 6 topics (1 without labels that paper_filing_agreement counts)"
    assert said in capsys.readouterr().out
    found = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert found["headlines"] == ["paper_filing_agreement"]
    assert (found["left_out"], found["counts"]["topics"], found["counts"]["scored"]) == (1, 5, 5)
    assert found["mean"]["paper_filing_agreement"] == pytest.approx(1.0)
    assert "verbs" not in found["per_topic"]
    assert arena.verify(tmp_path / "run", mixed).difference is None  # metrics.json, too


def test_a_topic_that_is_named_is_played_without_a_score(mixed, tmp_path, capsys):
    command = ["run", "--corpus", str(mixed), "--task", "organization", "--agent", "oracle",
               "--topics", "verbs,graphs"]  # fmt: skip
    assert main([*command, "--output", str(tmp_path / "run")]) == 0
    said = "Mean over 1 of 2 topics (1 without labels that paper_filing_agreement counts)"
    assert said in capsys.readouterr().out


def test_an_environment_draws_what_can_be_scored(mixed, headings):
    assert len(ResearchEnv(Corpus.open(headings), "organization").topics) == 6
    assert {*ResearchEnv(Corpus.open(mixed), "organization").topics} == {*WORDS} - {"verbs"}
