"""The decomposer by rules."""

from __future__ import annotations

import json

import pytest

import arena
from baselines.phrases import phrases


@pytest.mark.parametrize(
    ("topic", "found"),
    [
        ("dense retrieval: a survey", ["dense retrieval"]),
        ("Code search", ["Code search"]),
        ("ranking", []),
        ("law and the large language models of law", ["large language models"]),
    ],
)
def test_phrases_by_hand(topic, found):
    assert phrases(topic) == found


def test_it_searches_for_the_topic_and_its_phrases(synthetic, tmp_path):
    options = {"max_queries": 2}
    summary = arena.run(
        synthetic, "discovery", "phrases", tmp_path / "run", topics=3, agent_options=options
    )
    assert 0 < summary["mean"]["recall@100"] <= 1
    first = json.loads((tmp_path / "run" / "trajectories.jsonl").read_text().splitlines()[0])
    assert json.dumps(first).count('"search"') == 2
