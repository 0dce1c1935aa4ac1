"""Answers of a model that could not be used are counted, said and marked, never silent."""

from __future__ import annotations

import json

import pytest
from llm_server import HELLO, LLMServer, Trouble, says

import arena
from arena.cli import main
from arena.llm import ModelSession, ParseError, ask, ask_many
from arena.llm.outcomes import count_answers, describe_answers
from arena.results import comparison
from arena.results.viewing import as_page

pytestmark = pytest.mark.usefixtures("alone")


def ended(reason, text=""):
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": reason}
    return Trouble(200, json.dumps({"choices": [choice]}).encode())


def digits(text):
    if not text.isdigit():
        raise ParseError("It has no digits.")
    return int(text)


def test_each_answer_is_of_one_kind(make_client):
    script = {
        "a": "7", "b": "seven", "c": ended("length", "se"), "d": ended("length", "70"),
        "e": ended("content_filter"), "f": Trouble(413), "g": ended("SAFETY", "no"),
    }  # fmt: skip
    with LLMServer(lambda body: script[body["messages"][0]["content"]]) as server:
        session = ModelSession(make_client(server))
        ask_many(session, [says(name) for name in script], digits, step="count")
    notes = session.notes()
    # Asked again: b, c, e and g. The answer of d was cut, and could be read.
    assert count_answers([{"llm": notes}]) == {
        "asked": 11, "readable": 2, "unreadable": 2, "refused": 1, "cut": 2, "filtered": 4,
    }  # fmt: skip
    assert {call["step"] for call in notes["calls"]} == {"count"}
    assert notes["calls"][1]["kind"] == "unreadable"
    assert notes["calls"][1]["why"] == "It has no digits."
    assert not notes["calls"][0].keys() & {"kind", "why"}


def test_answers_that_an_agent_reads_itself(make_client):
    with LLMServer(["hm", "", ended("length", "long"), "words"]) as server:
        session = ModelSession(make_client(server))
        for name in "abc":
            session.complete(says(name))
        assert ask(session, HELLO, str) == "words"  # a step without a name
    counts = count_answers([{"llm": session.notes()}, {"llm": "free in form"}, {}])
    assert counts == {
        "asked": 4, "readable": 2, "unreadable": 1, "refused": 0, "cut": 1, "filtered": 0,
    }  # fmt: skip
    assert describe_answers([("s", {"llm": session.notes()})]) == [
        "2 of 4 answers of the model could not be used: 1 unreadable, 1 cut.",
        "For example, topic 's': unreadable, 'it is empty'",
    ]
    assert count_answers([{}, {"llm": {"calls": [{"request": "of an earlier release"}]}}]) is None


def play(synthetic, output, answer):
    """Run zero-shot on three topics; return the exit status."""
    with LLMServer(lambda body: answer) as server:
        given = ("model=scripted", f"base_url={server.url}", "mode=live")
        options = [part for option in given for part in ("--agent-option", option)]
        return main(["run", "--corpus", str(synthetic), "--task", "discovery",
                     "--agent", "zero-shot",
                     "--topics", "3", "--output", str(output), *options])  # fmt: skip


def test_a_model_that_never_answers_readably_marks_its_run(synthetic, tmp_path, capsys):
    silent, fine = tmp_path / "silent", tmp_path / "fine"
    assert play(synthetic, silent, ended("length")) == 0
    said = capsys.readouterr().out
    assert "zero-shot ‡" in said.splitlines()[0]
    assert "Warning: no answer of the model was readable" in said
    assert "6 of 6 answers of the model could not be used: 6 cut at query." in said
    assert "For example, topic " in said
    counts = json.loads((silent / "metrics.json").read_text())["model"]
    assert counts == {
        "asked": 6, "readable": 0, "unreadable": 0, "refused": 0, "cut": 6, "filtered": 0,
    }  # fmt: skip
    assert play(synthetic, fine, "<Queries>\n- membrane\n- graphs\n</Queries>") == 0
    said = capsys.readouterr().out
    assert "‡" not in said and "could not be used" not in said
    both = arena.compare([f"silent={silent}", f"fine={fine}"])
    verdict = "No answer of the model was readable in silent."
    assert comparison.as_text(both).splitlines()[0].endswith(verdict)
    for text in (comparison.as_text(both), as_page(both).html, comparison.as_latex(both)):
        assert "silent ‡" in text and "fine ‡" not in text
        assert "silent: 6 of 6 answers of the model could not be used: 6 cut." in text
    assert comparison.as_json(both)["runs"]["silent"]["model"] == counts
    assert arena.verify(silent, synthetic).verified
