"""The agent `decomposer`: sub-questions, their queries, and fusion."""

from __future__ import annotations

import pytest
from llm_server import LLMServer
from scripted_agents import LETTERS, bullets, corpus_of, episodes, play, queries_of

pytestmark = pytest.mark.usefixtures("alone")

ANSWER = "<Decomposition>\n- What is it?\n    - Why?\n</Decomposition>\n" + bullets(
    ["alpha", "beta", "gamma"]
)
# Reciprocal rank: a 1/61 + 1/63, c 1/63 + 1/61, e 1/61, b 1/62, d 1/62; ties as they came.
BY_RANK = ["p:a", "p:c", "p:e", "p:b", "p:d"]
# BM25: gamma is in one of six papers, alpha and beta are in three, and all papers are of one
# length. With k1 = 0.9: e ln(14/3) 2/2.9 = 1.06, a and c ln(2) 3/3.9 = 0.53, b and d ln(2) 2/2.9.
BY_SCORE = ["p:e", "p:a", "p:c", "p:b", "p:d"]


@pytest.fixture
def corpus(tmp_path):
    return corpus_of(tmp_path / "corpus", LETTERS)


@pytest.mark.parametrize(
    ("options", "ranking"),
    [({}, BY_RANK), ({"fusion": "rrf"}, BY_RANK), ({"fusion": "score"}, BY_SCORE)],
)
def test_hits_are_fused(options, ranking, corpus):
    with LLMServer([ANSWER]) as server:
        play(corpus, "discovery", "decomposer", "run", server, **options)
    (episode,) = episodes("run")
    assert queries_of(episode) == ["alpha", "beta", "gamma"]
    assert episode["answers"]["discovery"] == ranking


def test_depth_and_number_of_queries(corpus):
    """With the first two hits of alpha and beta: a and c 1/61, b and d 1/62."""
    with LLMServer([ANSWER]) as server:
        play(corpus, "discovery", "decomposer", "run", server, max_queries=2, k=2)
    (episode,) = episodes("run")
    searches = [step["action"] for step in episode["steps"][:-1]]
    assert searches == [
        {"tool": "search", "arguments": {"query": query, "k": 2}} for query in ("alpha", "beta")
    ]
    assert episode["answers"]["discovery"] == ["p:a", "p:c", "p:b", "p:d"]
