"""The agent `closed-book`: titles from memory, looked up."""

from __future__ import annotations

import pytest
from llm_server import LLMServer
from scripted_agents import LETTERS, corpus_of, episodes, play

from arena.cli import main
from arena.errors import DataError
from arena.llm import ParseError
from baselines.closed_book import titles

pytestmark = pytest.mark.usefixtures("alone")


def test_only_titles_that_the_corpus_has_are_submitted(tmp_path):
    corpus = corpus_of(tmp_path / "corpus", LETTERS)
    known = LETTERS["p:e"]
    named = f"<Titles>\n- No paper of this title\n- {known.upper()}\n- {known}\n</Titles>"
    with LLMServer([named]) as server:
        play(corpus, "discovery", "closed-book", "run", server)
    (episode,) = episodes("run")
    assert episode["answers"]["discovery"] == ["p:e"]
    assert (episode["notes"]["titles"], episode["notes"]["found"]) == (3, 1)


def test_an_answer_without_titles_submits_nothing(tmp_path):
    with pytest.raises(ParseError):
        titles("I know none.")
    corpus = corpus_of(tmp_path / "corpus", LETTERS)
    with LLMServer(["I know none."] * 2) as server:
        play(corpus, "discovery", "closed-book", "run", server)
    (episode,) = episodes("run")
    assert episode["answers"]["discovery"] == []


def test_a_comparison_is_split_at_the_cutoff_of_the_model(tmp_path, capsys):
    corpus = corpus_of(tmp_path / "corpus", LETTERS)
    for run, day in (("old", "2001"), ("new", "2002-05")):
        with LLMServer(["<Titles>\n- None\n</Titles>"]) as server:
            play(corpus, "discovery", "closed-book", run, server, model_cutoff=day)
    assert main(["compare", "old", "new", "--corpus", str(corpus)]) == 0
    assert "over 1 topic dated 2002-05-01 or later" in capsys.readouterr().out
    with pytest.raises(DataError, match="2002-13"):
        play(corpus, "discovery", "closed-book", "bad", server, model_cutoff="2002-13")
