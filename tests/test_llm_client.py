"""The client against a real server: modes, troubles, limits, counting, the secret of the key."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import pickle
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

import pytest
from llm_server import LLMServer, Trouble, last_text, tool_call, wait_until

from arena.errors import ArenaError, DataError
from arena.llm import (
    Client,
    Failed,
    LimitReachedError,
    LLMError,
    ParseError,
    ReplayMissError,
    RequestRefusedError,
    Session,
    SpendingLimitError,
    as_list,
    ask,
    ask_many,
)

pytest.importorskip("openai", reason="the package openai (extra llm) is not installed")

KEY = "sk-this-is-the-secret-0123456789"
HELLO = [{"role": "user", "content": "hello you there"}]


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    for name in ("OPENAI_BASE_URL", "ARENA_LLM_MODE", "ARENA_LLM_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


@pytest.fixture
def make(tmp_path):
    """Make clients that do not really wait between attempts."""

    def client(server, **options):
        url = server.url if isinstance(server, LLMServer) else server
        given = {"store": tmp_path / "answers.jsonl", "sleep": lambda seconds: None}
        return Client("scripted", **({"base_url": url} | given | options))

    return client


def says(text):
    return [{"role": "user", "content": text}]


def echo(body):
    return f"You said {last_text(body)}"


def test_a_request_and_its_answer(make):
    with LLMServer(["Hello to you."]) as server:
        answer = make(server).complete(HELLO, max_tokens=7, stop=["###"])
        assert server.requests == [
            {
                "model": "scripted", "messages": HELLO, "temperature": 0, "seed": 42,
                "max_tokens": 7, "stop": ["###"],
            }
        ]  # fmt: skip
        assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert (answer.text, answer.finish_reason, answer.tool_calls) == ("Hello to you.", "stop", ())
    assert answer.usage == (3, 3, None)
    assert (answer.cached, answer.cost) == (False, None)  # no price is no price of 0
    assert answer.seconds > 0


def test_the_key_is_the_hash_of_the_body_alone(make):
    """Worked out here from the documented form, which stores depend on."""
    body = {"model": "scripted", "messages": HELLO, "temperature": 0, "seed": 42}
    text = json.dumps({"body": body, "version": 1}, sort_keys=True, separators=(",", ":"))
    with LLMServer(echo) as server:
        client = make(server)
        first = client.complete(HELLO)
        assert first.key == hashlib.sha256(text.encode()).hexdigest()
        assert make("http://127.0.0.1:9/v1", temperature=0.0).complete(HELLO).cached
        different = [
            {"temperature": 0.5}, {"temperature": None}, {"seed": 1}, {"seed": None},
            {"max_tokens": 9}, {"stop": "."}, {"tools": [{"type": "function"}]},
            {"response_format": {"type": "json_object"}}, {"top_p": 0.5}, {"user": "me"},
        ]  # fmt: skip
        keys = {client.complete(HELLO, **options).key for options in different}
        assert len(keys | {first.key}) == len(server.requests) == 1 + len(different)
        assert "temperature" not in server.requests[2]
        for options in ({"stream": True}, {"n": 2}, {"model": "other"}):
            with pytest.raises(DataError):
                client.complete(HELLO, **options)
        for messages in ([], "hello", [{"content": "x"}], [{"role": "user", "content": {1}}]):
            with pytest.raises(DataError):
                client.complete(messages)


def test_recorded_answers_are_replayed_without_a_server(make):
    call = tool_call("search", {"query": "caf\u00e9"})
    prices = {"scripted": {"prompt": 1.0, "completion": 2.0}}
    with LLMServer(["text", call]) as server:
        client = make(server, prices=prices)
        answers = [client.complete(HELLO), client.complete(says("and now?"))]
        again = [client.complete(HELLO), client.complete(says("and now?"))]
        assert len(server.requests) == 2
    assert answers[1].tool_calls[0]["function"] == {
        "name": "search", "arguments": '{"query": "caf\\u00e9"}',
    }  # fmt: skip
    assert answers[1].message == {
        "role": "assistant", "content": "", "tool_calls": list(answers[1].tool_calls),
    }  # fmt: skip
    assert answers[0].cost == pytest.approx((3 * 1.0 + 1 * 2.0) / 1e6, rel=1e-12)
    assert client.meter.calls == 2  # what was really asked for
    replay = make("http://127.0.0.1:9/v1", mode="replay")
    replayed = [replay.complete(HELLO), replay.complete(says("and now?"))]
    assert again == replayed == [answer._replace(cached=True) for answer in answers]
    with pytest.raises(ReplayMissError) as miss:
        replay.complete(says("Tell me   something else about it please"))
    for part in ("'scripted'", "1 message", "Tell me something else", "answers.jsonl", "2 answers"):
        assert part in str(miss.value)
    with pytest.raises(ReplayMissError, match="all of other models: \\['scripted'\\]"):
        Client("another", mode="replay", store=replay.store.path).complete(HELLO)


def test_live_keeps_nothing(make, tmp_path):
    with LLMServer(["one", "two"]) as server:
        client = make(server, mode="live")
        assert [client.complete(HELLO).text for _ in range(2)] == ["one", "two"]
    assert not (tmp_path / "answers.jsonl").exists()


def test_mode_and_store_come_from_the_environment(make, tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_LLM_STORE", str(tmp_path / "elsewhere.jsonl"))
    with LLMServer(["one"]) as server:
        Client("scripted", base_url=server.url).complete(HELLO)
    monkeypatch.setenv("ARENA_LLM_MODE", "replay")
    assert Client("scripted").complete(HELLO).text == "one"
    monkeypatch.setenv("ARENA_LLM_MODE", "reply")
    with pytest.raises(DataError, match="Did you mean 'replay'"):
        Client("scripted")


def test_replay_needs_neither_openai_nor_a_key(make, tmp_path):
    with LLMServer(["one"]) as server:
        make(server).complete(HELLO)
    code = (
        "import sys; sys.modules['openai'] = None\n"
        "from arena.llm import Client\n"
        f"path, hello = {str(tmp_path / 'answers.jsonl')!r}, {HELLO!r}\n"
        "print(Client('scripted', mode='replay', store=path).complete(hello).text)\n"
        "Client('scripted', base_url='http://127.0.0.1:9', store=path).complete(hello[:1] * 2)\n"
    )
    environment = {k: v for k, v in os.environ.items() if k != "OPENAI_API_KEY"}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.stdout == "one\n"
    assert "pip install 'researcharena[llm]'" in done.stderr


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
def test_troubles_that_pass_are_asked_again(trouble, make):
    waits = []
    with LLMServer([trouble, "fine"]) as server:
        answer = make(server, timeout=0.4, sleep=waits.append).complete(HELLO)
        assert len(server.requests) == 2
        assert server.requests[0] == server.requests[1]
    assert answer.text == "fine"
    assert len(waits) == 1
    assert 0.25 <= waits[0] <= 0.5


def test_pauses_double_and_are_the_same_each_time(make, tmp_path):
    waits: list[list[float]] = []
    for _ in range(2):
        waits.append([])
        with LLMServer([Trouble(500)] * 11) as server:
            with pytest.raises(LLMError, match=r"answers 500.*\(11 attempts") as failure:
                make(server, max_retries=10, sleep=waits[-1].append).complete(HELLO)
            assert len(server.requests) == 11
    assert waits[0] == waits[1]
    for attempt, wait in enumerate(waits[0]):
        longest = min(60, 0.5 * 2**attempt)
        assert longest / 2 <= wait <= longest
    assert "hello you there" in str(failure.value)
    assert not (tmp_path / "answers.jsonl").exists()


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
def test_the_server_may_say_how_long_to_wait(headers, pause, make):
    waits = []
    with LLMServer([Trouble(429, headers=headers), "fine"]) as server:
        assert make(server, sleep=waits.append).complete(HELLO).text == "fine"
    if pause is None:
        assert 0.25 <= waits[0] <= 0.5
    elif pause == 0:
        assert waits == []
    else:  # less the moment that has passed since
        assert len(waits) == 1
        assert pause - 0.5 < waits[0] <= pause


def test_all_threads_wait_for_a_pause_that_the_server_asks_for(make):
    """For real: nothing is begun in the second that the first answer asks for."""
    times = []

    def script(body):
        times.append(time.monotonic())
        return Trouble(429, headers={"Retry-After": "1"}) if len(times) == 1 else "fine"

    with LLMServer(script) as server:
        client = make(server, max_parallel=1, sleep=time.sleep)
        client.complete_many([says(str(n)) for n in range(3)])
    assert times[1] - times[0] >= 0.99
    assert len(times) == 4


HOPELESS = {
    "401": (Trouble(401, error={"message": f"no key: {KEY}"}), r"the key in \$OPENAI_API_KEY was"),
    "403": (Trouble(403), "403: the key in"),
    "404": (Trouble(404), "has no model 'scripted'. Did you mean 'scripted-7b'"),
    "400": (Trouble(400, error={"message": f"seed: {KEY}"}), "does not take the.*seed=None"),
    "quota": (Trouble(429, error={"code": "insufficient_quota"}), "nothing is left"),
    "an hour": (Trouble(429, headers={"Retry-After": "3600"}), "asks to wait 3600 seconds"),
}  # fmt: skip


@pytest.mark.parametrize(("trouble", "message"), HOPELESS.values(), ids=HOPELESS)
def test_troubles_that_do_not_pass_are_told_at_once(trouble, message, make, tmp_path):
    with LLMServer([trouble, "fine"], models=["scripted-7b", "other"]) as server:
        with pytest.raises(LLMError, match=message) as failure:
            make(server).complete(HELLO)
        assert len(server.requests) == 1
        assert make(server).complete(HELLO).text == "fine"  # nothing was kept of it
    assert KEY not in "".join(traceback.format_exception(failure.value))
    assert failure.value.__context__ is None  # that would lead to the request and its headers


def test_no_server_and_no_key(make, monkeypatch):
    with pytest.raises(LLMError, match=r"127.0.0.1:9/v1 cannot be reached.*2 attempts"):
        make("http://me:password@127.0.0.1:9/v1?x=1", max_retries=1).complete(HELLO)
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(LLMError, match=r"\$OPENAI_API_KEY holds no key"):
        make(None).complete(HELLO)
    monkeypatch.setenv("OTHER", "two\nlines")
    with pytest.raises(DataError, match=r"\$OTHER holds characters"):
        make(None, api_key_env="OTHER").complete(HELLO)
    with LLMServer(["fine"]) as server:  # a local one needs none
        assert make(server).complete(HELLO).text == "fine"


REFUSALS = [
    (400, {"message": "This model's maximum context length is 2048 tokens."}),
    (400, {"message": "It is long", "code": "context_length_exceeded"}),
    (400, {"message": "flagged", "code": "content_filter"}),
    (413, {"message": "too large"}),
]  # fmt: skip


@pytest.mark.parametrize(("status", "error"), REFUSALS)
def test_a_request_that_is_refused_for_what_it_is_stays_refused(status, error, make):
    with LLMServer([Trouble(status, error=error)]) as server:
        for mode in ("record", "record", "replay"):
            with pytest.raises(RequestRefusedError, match=error["message"][:10]):
                make(server, mode=mode).complete(HELLO)
        assert len(server.requests) == 1
        session = Session(make(server))
        result = ask(session, HELLO, as_list)
    assert isinstance(result, Failed)
    assert not result
    notes = session.notes()
    assert notes["calls"][0]["refused"] is True
    assert notes["total"]["calls"] == 1
    assert "refused" in notes["failed"][0]["reason"]


def test_the_key_is_shown_nowhere(make, tmp_path, caplog):
    caplog.set_level(logging.DEBUG)
    troubles = [
        Trouble(401, error={"message": KEY}), Trouble(400, error={"message": KEY}),
        Trouble(200, KEY.encode()), Trouble(500, error={"message": KEY}), "fine",
    ]  # fmt: skip
    with LLMServer(troubles) as server:
        client = make(server, max_retries=0)
        shown = []
        for _ in range(4):
            with pytest.raises(LLMError) as failure:
                client.complete(HELLO)
            shown += traceback.format_exception(failure.value)
        session = Session(client)
        session.complete(HELLO)
    shown += [repr(client), str(vars(client)), json.dumps(session.notes()), caplog.text]
    with_sleep = make(server.url, sleep=time.sleep)
    data = pickle.dumps(with_sleep)
    assert pickle.loads(data).complete(HELLO).text == "fine"
    shown += [data.decode("latin-1"), (tmp_path / "answers.jsonl").read_text()]
    assert "***" in "".join(shown)
    assert KEY not in "".join(shown)


def test_many_at_once_in_order_and_no_more_than_allowed(make):
    def script(body):
        return Trouble(slow=0.02 * (int(last_text(body)) % 3), body=None, status=500) if (
            int(last_text(body)) % 7 == 0 and tried.setdefault(last_text(body), 0) == 0
            and not tried.update({last_text(body): 1})
        ) else echo(body)  # fmt: skip

    tried: dict[str, int] = {}
    with LLMServer(script) as server:
        client = make(server, max_parallel=3)
        many = [says(str(n % 20)) for n in range(40)]
        answers = client.complete_many(many)
        assert [a.text for a in answers] == [f"You said {n % 20}" for n in range(40)]
        assert server.most_at_once <= 3
        assert len(server.requests) == 20 + 3  # equal ones once, and 0, 7, 14 again
    assert make(None, mode="replay").complete_many(many) == [
        answer._replace(cached=True) for answer in answers
    ]
    assert client.complete_many([]) == []


def test_the_first_failure_ends_a_batch_and_keeps_what_was_answered(make, tmp_path):
    def script(body):
        return Trouble(401) if last_text(body) == "5" else echo(body)

    with LLMServer(script) as server:
        client = make(server, max_parallel=2)
        with pytest.raises(LLMError, match="401"):
            client.complete_many([says(str(n)) for n in range(50)])
        assert 6 <= len(server.requests) <= 8  # those under way, no more
        assert len(client.store) >= 5


INTERRUPTED = """
import sys
sys.path.insert(0, {tests!r})
from arena.llm import Client
client = Client("scripted", base_url={url!r}, store={store!r}, max_parallel=2)
many = [[{{"role": "user", "content": str(n)}}] for n in range(10)]
print("begun", flush=True)
client.complete_many(many) if {batch} else [client.complete(m) for m in many]
"""


@pytest.mark.parametrize("batch", [True, False])
def test_an_interrupted_process_ends_at_once_and_keeps_the_answers(batch, make, tmp_path):
    def script(body):
        return Trouble(slow=60) if last_text(body) in ("4", "5") else echo(body)

    store = tmp_path / "answers.jsonl"
    with LLMServer(script) as server:
        code = INTERRUPTED.format(
            tests=str(Path(__file__).parent), url=server.url, store=str(store), batch=batch
        )
        child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
        wait_until(lambda: len(server.requests) >= (6 if batch else 5))
        child.send_signal(signal.SIGINT)
        begun = time.monotonic()
        child.communicate()
        assert time.monotonic() - begun < 20  # the server takes 60 s, the time-out is 120 s
        assert child.returncode != 0
        replay = make(server, mode="replay")
        answers = [replay.complete(says(str(n))).text for n in range(4)]
    assert answers == [f"You said {n}" for n in range(4)]


def test_counting_by_hand(make):
    """10 prompt tokens of which 4 cached, 5 completion tokens; then an answer without a count."""
    usage = {
        "prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4},
    }  # fmt: skip
    choices = [{"message": {"role": "assistant", "content": "x"}, "finish_reason": "stop"}]
    bodies = [{"choices": choices, "usage": usage}, {"choices": choices}]
    prices = {"scripted": {"prompt": 3, "completion": 7, "cached": 1}}
    with LLMServer([Trouble(body=json.dumps(body).encode()) for body in bodies]) as server:
        session = Session(make(server, prices=prices))
        assert session.complete(HELLO).cost == pytest.approx((6 * 3 + 4 * 1 + 5 * 7) / 1e6, 1e-12)
        totals = session.meter.totals()
        assert {key: totals[key] for key in totals if key != "dollars"} == {
            "calls": 1, "prompt_tokens": 10, "completion_tokens": 5, "cached_tokens": 4,
        }  # fmt: skip
        assert session.complete(says("more")).cost is None
    assert session.meter.totals() == {
        "calls": 2, "prompt_tokens": None, "completion_tokens": None, "cached_tokens": 4,
        "dollars": None,
    }  # fmt: skip


def test_prices(make, tmp_path):
    path = tmp_path / "prices.yaml"
    path.write_text("scripted: {prompt: 1, completion: 1}\n")
    with LLMServer(echo) as server:
        assert make(server, prices=path).complete(HELLO).cost == pytest.approx(8e-6)
        for entry in ({"prompt": 1}, {"prompt": -1, "completion": 1}, 5, {"promt": 1},
                      {"prompt": True, "completion": 1}):  # fmt: skip
            with pytest.raises(DataError, match="the price of 'scripted'"):
                make(server, prices={"scripted": entry})
        with pytest.raises(DataError, match="no price of 'scripted'"):
            make(server, limits={"max_dollars": 1})
        with pytest.raises(DataError, match="cannot be read"):
            make(server, prices=tmp_path / "none.yaml")
        with pytest.raises(DataError, match="no price of 'scripted'"):
            Session(make(server), {"max_dollars": 1})
    # 1000 tokens each: 2.50 and 10 dollars for a million.
    from arena.llm.answers import Usage
    from arena.llm.prices import price_of

    assert price_of("gpt-4o", None).of(Usage(1000, 1000, 0)) == pytest.approx(0.0125)
    assert price_of("gpt-4o-2024-05-13", None) is None  # another price than gpt-4o
    assert price_of("gpt-4o", {"gpt-4o": {"prompt": 0, "completion": 0}}).of(Usage(9, 9)) == 0


@pytest.mark.parametrize(
    ("limits", "answered"),
    [
        ({"max_calls": 3}, 3),
        ({"max_calls": 0}, 0),
        ({"max_tokens": 21}, 3),  # 8 tokens each: the one that crosses is still answered
        ({"max_dollars": 16e-6}, 2),
        ({}, 5),
    ],
)
def test_limits_of_an_episode(limits, answered, make):
    """The same when replayed: the counts are those of the recording."""
    prices = {"scripted": {"prompt": 1, "completion": 1}}
    with LLMServer(lambda body: "five words and no more") as server:  # and three asked
        for mode in ("record", "record", "replay") if answered else ("record",):
            client = make(server, mode=mode, prices=prices)
            session = Session(client, limits)
            count = 0
            try:
                for n in range(5):
                    session.complete(says(f"hello you {n}"))
                    count += 1
            except LimitReachedError as reached:
                assert {reached.limit} == set(limits)
            assert count == answered
        assert len(server.requests) == answered


def test_a_limit_of_seconds_stops_a_replay_at_the_same_call(make):
    with LLMServer([Trouble(500, slow=0.3), "a", "b", "c"]) as server:
        counts = []
        for mode in ("record", "replay"):
            session = Session(make(server, mode=mode), {"max_seconds": 0.25})
            counts.append(0)
            with pytest.raises(LimitReachedError, match="max_seconds"):
                for n in range(3):
                    session.complete(says(str(n)))
                    counts[-1] += 1
    assert counts == [1, 1]


def test_a_batch_that_does_not_fit_is_not_begun(make):
    with LLMServer(echo) as server:
        session = Session(make(server), {"max_calls": 3})
        session.complete_many([says("a"), says("b")])
        with pytest.raises(LimitReachedError):
            session.complete_many([says("c"), says("d")])
        assert session.complete(says("c")).text == "You said c"
        assert len(server.requests) == 3


def test_limits_of_the_client_count_what_is_really_asked(make):
    with LLMServer(echo) as server:
        for start in (0, 2, 4):  # a process that begins again may ask as much again
            client = make(server, limits={"max_calls": 2})
            with pytest.raises(SpendingLimitError, match="max_calls=2"):
                for n in range(9):
                    client.complete(says(str(n)))
            assert client.meter.calls == 2
            assert len(server.requests) == start + 2


def test_a_limit_on_what_is_not_counted_is_an_error(make):
    choices = [{"message": {"role": "assistant", "content": "x"}}]
    with LLMServer([Trouble(body=json.dumps({"choices": choices}).encode())]) as server:
        session = Session(make(server), {"max_tokens": 100})
        with pytest.raises(DataError, match="does not count tokens"):
            session.complete(HELLO)


@pytest.mark.parametrize(
    "options",
    [
        {"timeout": 0}, {"timeout": "1"}, {"max_retries": -1}, {"max_retries": True},
        {"max_parallel": 0}, {"max_per_minute": 0}, {"limits": {"max_call": 1}},
        {"limits": {"max_calls": 1.5}}, {"limits": {"max_dollars": float("nan")}},
        {"limits": 3}, {"mode": "play"}, {"api_key_env": ""},
    ],
)  # fmt: skip
def test_options_out_of_range(options, make):
    with pytest.raises(DataError):
        make("http://127.0.0.1:9/v1", **options)


def test_so_many_a_minute(make):
    waits = []
    with LLMServer(echo) as server:
        client = make(server, max_per_minute=60, sleep=waits.append)
        for n in range(3):
            client.complete(says(str(n)))
    # Nobody really slept, so the third call is to wait for nearly two seconds.
    assert len(waits) == 2
    assert 0 < waits[0] <= 1 < waits[1] <= 2


def test_halves_of_characters_are_sent_and_kept_as_something_readable(make):
    with LLMServer(
        [Trouble(body=b'{"choices": [{"message": {"content": "a\\ud83d b"}}]}')]
    ) as server:
        client = make(server)
        assert client.complete(says("half \ud83d and \ud83d\ude00")).text == "a\ufffd b"
        assert server.requests[0]["messages"][0]["content"] == "half \ufffd and \U0001f600"


def test_messages_of_other_shapes(make):
    shapes = [
        ({"content": None}, ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"content": 5, "tool_calls": "none"}, ""),
        (
            {"content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"x": 1}}}, 3]},
            "",
        ),
    ]
    with LLMServer([message for message, _ in shapes]) as server:
        client = make(server)
        answers = [client.complete(says(str(n))) for n in range(len(shapes))]
    assert [answer.text for answer in answers] == [text for _, text in shapes]
    assert answers[3].tool_calls == (
        {"id": "call_0", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
    )


def read_number(text):
    if not text.isdigit():
        raise ParseError("It is no number.")
    return int(text)


def test_an_answer_in_a_wrong_form_is_asked_for_once_more(make):
    with LLMServer(["five", "5", "six", "seven", "9"]) as server:
        session = Session(make(server))
        assert ask(session, HELLO, read_number) == 5
        assert server.requests[1]["messages"][0] == HELLO[0]
        assert server.requests[1]["messages"][1] == {"role": "assistant", "content": "five"}
        assert "It is no number." in last_text(server.requests[1])
        failed = ask(session, says("another"), read_number)
        assert failed == Failed("It is no number.", "seven")
        assert ask(make(server), says("a third"), read_number) == 9  # without an episode
    assert [note["reason"] for note in session.notes()["failed"]] == ["'It is no number.'"]
    assert session.meter.calls == 4


def test_many_questions_of_which_some_fail(make):
    def script(body):
        text = body["messages"][0]["content"]
        if len(body["messages"]) > 1:
            return "22" if text == "2" else ""
        return {"0": "10", "1": "", "2": "x"}.get(text, Trouble(413))

    with LLMServer(script) as server:
        session = Session(make(server))
        results = ask_many(session, [says(str(n)) for n in range(4)], read_number)
        assert results[0] == 10
        assert results[2] == 22
        assert [bool(result) for result in results] == [True, False, True, False]
        assert len(session.notes()["failed"]) == 2
        empty = [r for r in server.requests if len(r["messages"]) == 3]
        assert {r["messages"][1]["content"] for r in empty} == {"(nothing)", "x"}
        # At its limit an episode keeps what was answered in the first round.
        short = Session(make(server), {"max_calls": 4})
        results = ask_many(short, [says(str(n)) for n in range(4)], read_number)
        assert [bool(result) for result in results] == [True, False, False, False]


def test_errors_are_ones_that_the_command_line_prints():
    for kind in (LLMError, LimitReachedError, ParseError, ReplayMissError):
        assert issubclass(kind, ArenaError)
