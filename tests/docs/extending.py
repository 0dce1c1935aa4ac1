"""Tests of the plug-ins of docs/extending.md, which test_docs.py runs with its files."""

from __future__ import annotations

import json

import gymnasium

import arena
from arena.metrics import evaluate
from arena.testing import audit
from corpus_builder.index import build_index
from corpus_builder.questions import read_questions


def test_noise():
    scores = evaluate(["x", "a", "y", "b"], {"a": 1, "b": 2}, ["noise@1", "noise@2", "noise"])
    assert scores == {"noise@1": 1.0, "noise@2": 0.5, "noise": 0.5}


def test_new_words(synthetic):
    options = {"new_words": {"weight": 0.5}}
    env = gymnasium.make(
        "arena/Discovery-v0", corpus=synthetic, reward="gain+new_words", reward_options=options
    )
    observation, _ = env.reset(seed=1)
    for query, paid in ((observation["topic"], 0.0), ("zebra", 0.5)):
        _, _, _, _, info = env.step({"tool": "search", "arguments": {"query": query}})
        assert info["reward_terms"]["new_words"] == paid


def test_worst(synthetic):
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic, topics=3, sampler="worst")
    drawn = []
    for _ in range(3):
        drawn.append(env.reset()[1]["topic_id"])
        env.step({"tool": "submit", "arguments": {"paper_ids": []}})
    assert drawn == [*env.unwrapped.topics]


def test_cocited_passes_the_checks(synthetic):
    environments = ["arena/Discovery-v0"]
    assert (
        audit(synthetic, actions=100, environments=environments, tools=["cocited"]).findings == []
    )


def test_words(synthetic, tmp_path):
    summary = arena.run(
        synthetic, "discovery", "words", tmp_path / "run", topics=3, tools=["cocited"]
    )
    assert 0 < summary["mean"]["recall@100"] <= summary["ceiling"]["recall@100"]
    lines = (tmp_path / "run" / "trajectories.jsonl").read_text().splitlines()
    played = [step["action"]["tool"] for line in lines for step in json.loads(line)["steps"]]
    assert played.count("cocited") == 3


def test_shortlist(synthetic, tmp_path):
    summary = arena.run(synthetic, "shortlist", "title", tmp_path / "run", topics=3)
    assert set(summary["mean"]) == {"ndcg@10", "precision@10"}


def test_shortlist_passes_the_checks(synthetic):
    assert audit(synthetic, actions=200, environments=["arena/Shortlist-v0"]).findings == []


def test_overlap(mini):
    build_index(mini, "overlap")
    corpus = arena.Corpus.open(mini)
    view = corpus.at("2022-06-15", retriever="overlap")
    hits = view.search("sparse models", 20)
    assert hits
    assert all(hit.date < view.cutoff for hit in hits)
    less = corpus.at("2022-06-15", exclude=[hits[0].id], retriever="overlap")
    assert hits[0].id not in {hit.id for hit in less.search("sparse models", 20)}


def test_questions(tmp_path):
    (tmp_path / "questions.tsv").write_text("2020-05-01\twhat is known?\tOne\tAnother\n")
    (question,) = read_questions("tabbed", tmp_path / "questions.tsv")
    assert [paper.title for paper in question.gold] == ["One", "Another"]
