"""The agent `zero-shot`: one query from the topic."""

from __future__ import annotations

import pytest
from llm_server import LLMServer
from scripted_agents import LETTERS, bullets, corpus_of, episodes, play, queries_of

from baselines.queries import one_query

pytestmark = pytest.mark.usefixtures("alone")


def test_the_hits_of_the_query_are_submitted(tmp_path):
    corpus = corpus_of(tmp_path / "corpus", LETTERS)
    with LLMServer([bullets(["beta", "gamma"])]) as server:
        play(corpus, "discovery", "zero-shot", "run", server)
        assert len(server.requests) == 1
    (episode,) = episodes("run")
    assert queries_of(episode) == ["beta"]
    assert episode["answers"]["discovery"] == ["p:c", "p:d", "p:a"]


@pytest.mark.parametrize(
    "text",
    [
        "graph models",
        "Here is a query:\n\n**graph models**\n\nIt covers the topic.",
        "<Queries>\n- graph models\n- molecules\n</Queries>",
        "<think>Perhaps trees.</think>\ngraph models",
        "<Queries></Queries>\ngraph models",
    ],
)
def test_a_query_is_read_from(text):
    assert one_query(text) == "graph models"
