"""Answers in a form, asked for once more."""

from __future__ import annotations

from llm_server import HELLO, LLMServer, Trouble, last_text, says

from arena.llm import (
    Failure,
    ModelSession,
    ParseError,
    ask,
    ask_many,
)


def read_number(text):
    if not text.isdigit():
        raise ParseError("It is not a number.")
    return int(text)


def test_an_answer_in_a_wrong_form_is_asked_for_once_more(make_client):
    with LLMServer(["five", "5", "six", "seven", "9"]) as server:
        session = ModelSession(make_client(server))
        assert ask(session, HELLO, read_number) == 5
        assert server.requests[1]["messages"][0] == HELLO[0]
        assert server.requests[1]["messages"][1] == {"role": "assistant", "content": "five"}
        assert "It is not a number." in last_text(server.requests[1])
        failed = ask(session, says("another"), read_number)
        assert failed == Failure("It is not a number.", "seven")
        assert ask(make_client(server), says("a third"), read_number) == 9  # without an episode
    assert [note["reason"] for note in session.notes()["failed"]] == ["It is not a number."]
    assert session.meter.calls == 4


def test_many_questions_of_which_some_fail(make_client):
    def script(body):
        text = body["messages"][0]["content"]
        if len(body["messages"]) > 1:
            return "22" if text == "2" else ""
        return {"0": "10", "1": "", "2": "x"}.get(text, Trouble(413))

    with LLMServer(script) as server:
        session = ModelSession(make_client(server))
        results = ask_many(session, [says(str(n)) for n in range(4)], read_number)
        assert results[0] == 10
        assert results[2] == 22
        assert [bool(result) for result in results] == [True, False, True, False]
        assert len(session.notes()["failed"]) == 2
        empty = [r for r in server.requests if len(r["messages"]) == 3]
        assert {r["messages"][1]["content"] for r in empty} == {"(nothing)", "x"}
        # At its limit an episode keeps what was answered in the first round.
        short = ModelSession(make_client(server), {"max_calls": 4})
        results = ask_many(short, [says(str(n)) for n in range(4)], read_number)
        assert [bool(result) for result in results] == [True, False, False, False]
