"""Many requests side by side, and Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from llm_server import LLMServer, Trouble, echo, last_text, says, wait_until

from arena.llm import LLMError


def test_many_at_once_in_order_and_no_more_than_allowed(make_client):
    tried = []

    def script(body):
        text = last_text(body)
        tried.append(text)
        return (
            Trouble(500, slow=0.05) if int(text) % 7 == 0 and tried.count(text) == 1 else echo(body)
        )

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


def test_the_first_failure_ends_a_batch_and_keeps_what_was_answered(make_client, tmp_path):
    def script(body):
        return Trouble(401) if last_text(body) == "5" else echo(body)

    with LLMServer(script) as server:
        client = make_client(server, max_parallel=2)
        with pytest.raises(LLMError, match="401"):
            client.complete_many([says(str(n)) for n in range(50)])
        assert len(server.requests) < 50
        assert [str(n) for n in range(4) if client.complete(says(str(n))).cached] == list("0123")


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
def test_an_interrupted_process_ends_at_once_and_keeps_the_answers(batch, make_client, tmp_path):
    def script(body):
        return Trouble(slow=60) if last_text(body) in ("4", "5") else echo(body)

    store = tmp_path / "answers.db"
    with LLMServer(script) as server:
        code = INTERRUPTED.format(
            tests=str(Path(__file__).parents[1]), url=server.url, store=str(store), batch=batch
        )
        child = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE)
        wait_until(lambda: len(server.requests) >= (6 if batch else 5))
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=40)  # the server takes 60 s, the time-out is 120 s
        assert child.returncode != 0
        replay = make_client(server, mode="replay")
        answers = [replay.complete(says(str(n))).text for n in range(4)]
    assert answers == [f"You said {n}" for n in range(4)]
