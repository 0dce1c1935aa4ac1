"""Faulty servers over real HTTP: each promise of the client once."""

from __future__ import annotations

import json
import logging
import signal
import subprocess
import sys
import time
import traceback

import pytest
from llm_server import HELLO, KEY, LLMServer, Trouble, echo, last_text, says, tool_call, wait_until

from arena.errors import DataError
from arena.llm import Client, Failure, LLMError, ModelSession, RequestRefusedError, as_list, ask

PASSING = {
    "429": Trouble(429),
    "503 without a body": Trouble(503, b""),
    "empty": Trouble(200, b""),
    "not JSON": Trouble(200, b"<html>login</html>", {"Content-Type": "text/html"}),
    "deep": Trouble(200, b"[" * 200_000),
    "hangs up": Trouble(hang_up=True),
    "slow": Trouble(slow=30),
    "a byte at a time": Trouble(body=b" " * 3000, drip=0.02),
}


@pytest.mark.parametrize("trouble", PASSING.values(), ids=PASSING)
def test_troubles_that_pass_are_asked_again(trouble, make_client):
    timeout = 0.7 if trouble.slow or trouble.drip else 60
    with LLMServer([trouble, "fine"]) as server:
        assert make_client(server, timeout=timeout).complete(HELLO).text == "fine"
        assert len(server.requests) == 2
        assert server.requests[0] == server.requests[1]


@pytest.mark.parametrize(
    ("trouble", "message"),
    [
        (Trouble(500), "fails: 'trouble' \\(2 attempts at request .*hello you there"),
        (Trouble(200, b"{'choices'"), "is not a chat completion: \"{'choices'\" \\(2 attempts"),
        (Trouble(slow=30), r"did not answer within 0.7 s .*\(2 attempts"),
        (Trouble(hang_up=True), r"cannot be reached or hung up .*\(2 attempts"),
    ],
)
def test_troubles_that_stay_are_told(trouble, message, make_client, tmp_path):
    with LLMServer([trouble] * 2) as server, pytest.raises(LLMError, match=message):
        make_client(server, max_retries=1, timeout=0.7).complete(HELLO)
    assert not (tmp_path / "answers.db").exists()


def test_the_server_may_say_how_long_to_wait(monkeypatch, tmp_path):
    """For real, with the package's own pauses: half a second by itself, here one second."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    times = []

    def script(body):
        times.append(time.monotonic())
        return Trouble(429, headers={"Retry-After": "1.2"}) if len(times) == 1 else "fine"

    with LLMServer(script) as server:
        client = Client("scripted", base_url=server.url, store=tmp_path / "answers.db")
        assert client.complete(HELLO).text == "fine"
    assert 1.19 <= times[1] - times[0] < 60


HOPELESS = {
    "401": (Trouble(401, error={"message": KEY}), r"the key in \$OPENAI_API_KEY is refused by"),
    "404": (Trouble(404), "has no model 'scripted'. Did you mean 'scripted-7b'"),
    "400": (Trouble(400, error={"message": f"seed: {KEY}"}), "refuses the.*seed=None"),
    "a redirect": (
        Trouble(307, headers={"Location": f"http://127.0.0.2:9/{KEY}"}),
        r"redirects to .*127.0.0.2:9/\*\*\*",
    ),
    "an hour": (Trouble(429, headers={"Retry-After": "3600"}), "asks to wait '3600' seconds"),
}  # fmt: skip


@pytest.mark.parametrize(("trouble", "message"), HOPELESS.values(), ids=HOPELESS)
def test_troubles_that_do_not_pass_are_told_at_once(trouble, message, make_client):
    with LLMServer([trouble, "fine"], models=["scripted-7b", "other"]) as server:
        with pytest.raises(LLMError, match=message) as failure:
            make_client(server).complete(HELLO)
        assert len(server.requests) == 1
        assert make_client(server).complete(HELLO).text == "fine"  # nothing was kept of it
    assert KEY not in "".join(traceback.format_exception(failure.value))
    assert failure.value.__context__ is None  # that would lead to the request and its headers


def test_no_server_and_no_key(make_client, monkeypatch):
    with pytest.raises(LLMError, match=r"^127.0.0.1:9/v1 cannot be reached.*2 attempts"):
        make_client("http://me:password@127.0.0.1:9/v1?x=1", max_retries=1).complete(HELLO)
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(LLMError, match=r"\$OPENAI_API_KEY is not set"):
        make_client(None).complete(HELLO)
    monkeypatch.setenv("OTHER", "two\nlines")
    with pytest.raises(DataError, match=r"\$OTHER contains characters"):
        make_client(None, api_key_env="OTHER").complete(HELLO)
    with LLMServer(["fine"]) as server:  # a local one needs none
        assert make_client(server).complete(HELLO).text == "fine"
        assert "authorization" not in server.headers[0]


def test_the_package_is_asked_for_where_it_is_missing(make_client, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"pip install 'researcharena\[llm\]'"):
        make_client("http://127.0.0.1:9/v1").complete(HELLO)


REFUSALS = [
    (400, {"message": "This model's maximum context length is 2048 tokens."}),
    (400, {"message": "flagged", "code": "content_filter"}),
    (400, {"message": "image_parse_error: The image could not be parsed."}),
    (400, {"message": "Could not process image"}),
    (413, {"message": "too large"}),
]


@pytest.mark.parametrize(("status", "error"), REFUSALS)
def test_a_request_that_is_refused_for_what_it_is_stays_refused(status, error, make_client):
    with LLMServer([Trouble(status, error=error)]) as server:
        for mode in ("record", "record", "replay"):
            with pytest.raises(RequestRefusedError, match=error["message"][:10]):
                make_client(server, mode=mode).complete(HELLO)
        assert len(server.requests) == 1
        session = ModelSession(make_client(server))
        result = ask(session, HELLO, as_list)
    assert isinstance(result, Failure)
    notes = session.notes()
    assert notes["calls"][0]["refused"] is True
    assert notes["total"]["calls"] == 1
    assert "refused" in notes["failed"][0]["reason"]


def test_the_key_is_shown_nowhere(make_client, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    troubles = [
        Trouble(401, error={"message": KEY}), Trouble(400, error={"message": KEY}),
        Trouble(200, KEY.encode()), Trouble(500, error={"message": KEY}),
        Trouble(200, b"x" * 50 + KEY.encode()),  # across the place where a message is cut
        f"Authorization: Bearer {KEY}", tool_call(KEY, {"query": KEY}, KEY),
    ]  # fmt: skip
    shown = []
    with LLMServer(troubles) as server:
        client = make_client(server, max_retries=0)
        for _ in troubles[:-2]:
            with pytest.raises(LLMError) as failure:
                client.complete(HELLO)
            shown += traceback.format_exception(failure.value)
        session = ModelSession(client)
        shown += [str(session.complete(HELLO)), str(session.complete(says("and now?")))]
    shown += [repr(client), str(vars(client)), str(vars(client._server._sdk)), caplog.text]
    shown += [json.dumps(session.notes()), (tmp_path / "answers.db").read_bytes().decode("latin-1")]
    assert "***" in "".join(shown)
    assert KEY not in "".join(shown) and KEY[:16] not in "".join(shown)


def test_a_redirect_carries_no_prompt_to_another_host(make_client):
    with LLMServer(["stolen"]) as other:
        away = Trouble(307, headers={"Location": f"{other.url}/chat/completions"})
        with LLMServer([away]) as server, pytest.raises(LLMError, match="which is not followed"):
            make_client(server).complete(HELLO)
        assert other.requests == []


def test_many_at_once_in_order_and_no_more_than_allowed(make_client):
    tried = []

    def script(body):
        tried.append(text := last_text(body))
        fails = int(text) % 7 == 0 and tried.count(text) == 1
        return Trouble(500, slow=0.05) if fails else echo(body)

    with LLMServer(script) as server:
        client = make_client(server, max_parallel=3)
        many = [says(str(n % 20)) for n in range(40)]
        answers = client.complete_many(many)
        assert [answer.text for answer in answers] == [f"You said {n % 20}" for n in range(40)]
        assert server.most_at_once <= 3
        assert len(server.requests) == 20 + 3  # equal ones once, and 0, 7, 14 again
    assert make_client(None, mode="replay").complete_many(many) == [
        answer._replace(cached=True) for answer in answers
    ]
    assert client.complete_many([]) == []


def test_the_first_failure_ends_a_batch_and_keeps_what_was_answered(make_client):
    def script(body):
        return Trouble(401) if last_text(body) == "5" else echo(body)

    with LLMServer(script) as server:
        client = make_client(server, max_parallel=2)
        with pytest.raises(LLMError, match="401"):
            client.complete_many([says(str(n)) for n in range(200)])
        assert len(server.requests) < 200
        assert [str(n) for n in range(4) if client.complete(says(str(n))).cached] == list("0123")


INTERRUPTED = """
from arena.llm import Client
client = Client("scripted", base_url={url!r}, store={store!r}, max_parallel=2)
many = [[{{"role": "user", "content": str(n)}}] for n in range(10)]
client.complete_many(many) if {batch} else [client.complete(m) for m in many]
"""


@pytest.mark.parametrize("batch", [True, False])
def test_an_interrupted_process_ends_at_once_and_keeps_the_answers(batch, make_client, tmp_path):
    def script(body):
        return Trouble(slow=60) if last_text(body) in ("4", "5") else echo(body)

    store = tmp_path / "answers.db"
    with LLMServer(script) as server:
        code = INTERRUPTED.format(url=server.url, store=str(store), batch=batch)
        child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
        wait_until(lambda: len(server.requests) >= (6 if batch else 5), 60)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=40)  # the server takes 60 s, the time-out is 120 s
        assert child.returncode != 0
        replay = make_client(server, mode="replay")
        answers = [replay.complete(says(str(n))).text for n in range(4)]
    assert answers == [f"You said {n}" for n in range(4)]
