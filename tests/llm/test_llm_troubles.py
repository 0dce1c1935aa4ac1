"""Troubles of a server, real ones over HTTP, and the secret of the key in all of them."""

from __future__ import annotations

import json
import logging
import pickle
import time
import traceback

import pytest
from llm_server import HELLO, KEY, LLMServer, Trouble, says

from arena.errors import DataError
from arena.llm import Failed, LLMError, ModelSession, RequestRefusedError, as_list, ask

PASSING = {
    "429": Trouble(429),
    "500": Trouble(500),
    "503 without a body": Trouble(503, b""),
    "empty": Trouble(200, b""),
    "no JSON": Trouble(200, b"{'choices'"),
    "a page": Trouble(200, b"<html>login</html>", {"Content-Type": "text/html"}),
    "no choices": Trouble(200, b'{"choices": []}'),
    "null": Trouble(200, b"null"),
    "deep": Trouble(200, b"[" * 200_000),
    "cut off": Trouble(200, b'{"choices": [{', announced=5000),
    "hangs up": Trouble(hang_up=True),
    "slow": Trouble(slow=30),
    "a byte at a time": Trouble(body=b" " * 3000, drip=0.02),
}


@pytest.mark.parametrize("trouble", PASSING.values(), ids=PASSING)
def test_troubles_that_pass_are_asked_again(trouble, make_client):
    waits = []
    timeout = 0.7 if trouble.slow or trouble.drip else 60
    with LLMServer([trouble, "fine"]) as server:
        answer = make_client(server, timeout=timeout, sleep=waits.append).complete(HELLO)
        assert len(server.requests) == 2
        assert server.requests[0] == server.requests[1]
    assert answer.text == "fine"
    assert len(waits) == 1
    assert 0.25 <= waits[0] <= 0.5


def test_pauses_double_and_are_the_same_each_time(make_client, tmp_path):
    waits: list[list[float]] = []
    for _ in range(2):
        waits.append([])
        with LLMServer([Trouble(500)] * 11) as server:
            with pytest.raises(LLMError, match=r"answers 500.*\(11 attempts") as failure:
                make_client(server, max_retries=10, sleep=waits[-1].append).complete(HELLO)
            assert len(server.requests) == 11
    assert waits[0] == waits[1]
    for attempt, wait in enumerate(waits[0]):
        longest = min(60, 0.5 * 2**attempt)
        assert longest / 2 <= wait <= longest
    assert "hello you there" in str(failure.value)
    assert not (tmp_path / "answers.db").exists()


@pytest.mark.parametrize(
    ("headers", "pause"),
    [
        ({"Retry-After": "7"}, 7),
        ({"retry-after-ms": "1500", "Retry-After": "9"}, 1.5),
        ({"Retry-After": "-3"}, 0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0),
    ],
)
def test_the_server_may_say_how_long_to_wait(headers, pause, make_client):
    waits = []
    with LLMServer([Trouble(429, headers=headers), "fine"]) as server:
        assert make_client(server, sleep=waits.append).complete(HELLO).text == "fine"
    if pause is None:
        assert 0.25 <= waits[0] <= 0.5
    elif pause == 0:
        assert waits == []
    else:  # less the moment that has passed since
        assert len(waits) == 1
        assert pause / 2 < waits[0] <= pause


def test_all_threads_wait_for_a_pause_that_the_server_asks_for(make_client):
    """For real: nothing is begun in the second that the first answer asks for."""
    times = []

    def script(body):
        times.append(time.monotonic())
        return Trouble(429, headers={"Retry-After": "1"}) if len(times) == 1 else "fine"

    with LLMServer(script) as server:
        client = make_client(server, max_parallel=1, sleep=time.sleep)
        client.complete_many([says(str(n)) for n in range(3)])
    assert times[1] - times[0] >= 0.99
    assert len(times) == 4


HOPELESS = {
    "401": (Trouble(401, error={"message": f"no key: {KEY}"}), r"the key in \$OPENAI_API_KEY is"),
    "403": (Trouble(403), "403: the key in"),
    "404": (Trouble(404), "has no model 'scripted'. Did you mean 'scripted-7b'"),
    "400": (Trouble(400, error={"message": f"seed: {KEY}"}), "does not take the.*seed=None"),
    "quota": (Trouble(429, error={"code": "insufficient_quota"}), "the account .* is empty"),
    "a redirect": (
        Trouble(307, headers={"Location": "http://127.0.0.2:9/v1"}), "redirects to .*127.0.0.2",
    ),
    "an hour": (Trouble(429, headers={"Retry-After": "3600"}), "asks to wait 3600 seconds"),
}  # fmt: skip


@pytest.mark.parametrize(("trouble", "message"), HOPELESS.values(), ids=HOPELESS)
def test_troubles_that_do_not_pass_are_told_at_once(trouble, message, make_client, tmp_path):
    with LLMServer([trouble, "fine"], models=["scripted-7b", "other"]) as server:
        with pytest.raises(LLMError, match=message) as failure:
            make_client(server).complete(HELLO)
        assert len(server.requests) == 1
        assert make_client(server).complete(HELLO).text == "fine"  # nothing was kept of it
    assert KEY not in "".join(traceback.format_exception(failure.value))
    assert failure.value.__context__ is None  # that would lead to the request and its headers


def test_no_server_and_no_key(make_client, monkeypatch):
    with pytest.raises(LLMError, match=r"127.0.0.1:9/v1 cannot be reached.*2 attempts"):
        make_client("http://me:password@127.0.0.1:9/v1?x=1", max_retries=1).complete(HELLO)
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(LLMError, match=r"\$OPENAI_API_KEY holds no key"):
        make_client(None).complete(HELLO)
    monkeypatch.setenv("OTHER", "two\nlines")
    with pytest.raises(DataError, match=r"\$OTHER holds characters"):
        make_client(None, api_key_env="OTHER").complete(HELLO)
    with LLMServer(["fine"]) as server:  # a local one needs none
        assert make_client(server).complete(HELLO).text == "fine"


REFUSALS = [
    (400, {"message": "This model's maximum context length is 2048 tokens."}),
    (400, {"message": "It is long", "code": "context_length_exceeded"}),
    (400, {"message": "flagged", "code": "content_filter"}),
    (413, {"message": "too large"}),
]  # fmt: skip


@pytest.mark.parametrize(("status", "error"), REFUSALS)
def test_a_request_that_is_refused_for_what_it_is_stays_refused(status, error, make_client):
    with LLMServer([Trouble(status, error=error)]) as server:
        for mode in ("record", "record", "replay"):
            with pytest.raises(RequestRefusedError, match=error["message"][:10]):
                make_client(server, mode=mode).complete(HELLO)
        assert len(server.requests) == 1
        session = ModelSession(make_client(server))
        result = ask(session, HELLO, as_list)
    assert isinstance(result, Failed)
    assert not result
    notes = session.notes()
    assert notes["calls"][0]["refused"] is True
    assert notes["total"]["calls"] == 1
    assert "refused" in notes["failed"][0]["reason"]


def test_the_key_is_shown_nowhere(make_client, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    troubles = [
        Trouble(401, error={"message": KEY}), Trouble(400, error={"message": KEY}),
        Trouble(200, KEY.encode()), Trouble(500, error={"message": KEY}),
        Trouble(200, b"x" * 50 + KEY.encode()), "fine",  # across the place where a message is cut
    ]  # fmt: skip
    with LLMServer(troubles) as server:
        client = make_client(server, max_retries=0)
        shown = []
        for _ in range(5):
            with pytest.raises(LLMError) as failure:
                client.complete(HELLO)
            shown += traceback.format_exception(failure.value)
        session = ModelSession(client)
        session.complete(HELLO)
    shown += [repr(client), str(vars(client)), json.dumps(session.notes()), caplog.text]
    with_sleep = make_client(server.url, sleep=time.sleep)
    data = pickle.dumps(with_sleep)
    assert pickle.loads(data).complete(HELLO).text == "fine"
    shown += [data.decode("latin-1"), (tmp_path / "answers.db").read_bytes().decode("latin-1")]
    assert "***" in "".join(shown)
    assert KEY not in "".join(shown) and KEY[:16] not in "".join(shown)
