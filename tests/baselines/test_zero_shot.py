"""The agent `zero-shot`: one query from the topic."""

from __future__ import annotations

import pytest
from llm_server import LLMServer, last_text
from scripted_agents import C2, LETTERS, bullets, corpus_of, episodes, play, queries_of

from arena.llm import ParseError
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


def test_the_prompt_of_the_paper(tmp_path):
    """C.2 asks for no tag; the answer is a bare query."""
    corpus = corpus_of(tmp_path / "corpus", LETTERS)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "query.txt").write_text(C2)
    with LLMServer(['"gamma"']) as server:
        play(corpus, "discovery", "zero-shot", "run", server, prompts="own")
        assert last_text(server.requests[0]) == (
            "Create a search query that gathers supporting materials for writing a survey paper "
            "on the following topic: letters."
        )
    (episode,) = episodes("run")
    assert queries_of(episode) == ["gamma"]
    assert episode["answers"]["discovery"] == ["p:e"]
    assert episode["notes"]["llm"]["failed"] == []


@pytest.mark.parametrize(
    "text",
    [
        "graph models",
        "Search query: graph models",
        "Here is a query:\n\n**graph models**\n\nIt covers the topic.",
        "```\ngraph models\n```",
        "<Queries>\n- graph models\n- molecules\n</Queries>",
        "<think>Perhaps trees.</think>\ngraph models",
        "<Queries></Queries>\ngraph models",
    ],
)
def test_a_query_is_read_from(text):
    assert one_query(text) == "graph models"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "<Queries></Queries>",
        "<Queries>\n- ...\n</Queries>",
        "Query:",
        "I'm ready to help. What's the topic of your survey paper?",
        "Sure!",
    ],
)
def test_no_query_is_read_from(text):
    """Also not from the form of the prompt, which a weak model repeats, and from talk."""
    with pytest.raises(ParseError):
        one_query(text)
