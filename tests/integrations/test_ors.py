"""OpenReward's own client on a real server; `test_contract.py` plays whole episodes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import pytest

# First: with it OpenReward prints nothing, and asks no registry for a newer version.
pytest.importorskip("clients.ors", reason="OpenReward is not installed: make integrations")
import requests
from helpers import gold_of
from openreward.api.environments.client import EnvironmentsAPI
from openreward.api.errors import ToolCallError
from serving import serving
from sse_starlette.sse import AppStatus
from test_other_frameworks import run

from arena.session import Sessions
from arena_integrations.ors import episode_rewards, make_app

SEARCH = {"query": "nested lattice", "k": 3}


@pytest.fixture(scope="module")
def served(synthetic: Path) -> list[Sessions]:
    limits = {"reward": "gain+recall@100", "max_sessions": 3}
    return [Sessions.make(synthetic, **limits), Sessions.make(synthetic, "selection")]


@pytest.fixture(scope="module")
def url(served: list[Sessions]) -> Iterator[str]:
    AppStatus.should_exit_event = None
    with serving(make_app(served, "train")) as url:
        yield url


@pytest.fixture
def api(url: str, served: list[Sessions]) -> Iterator[Any]:
    with EnvironmentsAPI(url, "") as api:
        yield api
    assert not any(map(len, served))  # episodes end with their sessions


def test_a_task_is_an_environment_and_a_topic_its_task(
    api: Any, url: str, served: list[Sessions], synthetic: Path
) -> None:
    assert requests.get(f"{url}/list_environments").json() == ["discovery", "selection"]
    for sessions in served:
        env = api.get("server", variant=sessions.env.task_name)
        assert env.list_splits() == ["train"]
        rows = [task.task_spec for task in env.list_tasks("train")]
        assert rows == [{"id": each, "topic": t} for each, t in sessions.env.topics.items()]
        assert rows == [env.get_task("train", i).task_spec for i in range(len(rows))]
        assert not any(
            paper in json.dumps(rows) for row in rows for paper in gold_of(synthetic, row["id"])
        )
        assert env.is_assistant_message_final()
        with env.session(split="train", index=1) as session:
            (prompt,) = session.get_prompt()
            assert json.loads(prompt.text)["topic"] == rows[1]["topic"]


def test_each_call_has_its_reward_and_the_end_is_told(
    api: Any, served: list[Sessions], synthetic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Answers come in pieces, some of which begin with a space.
    monkeypatch.setattr("openreward.environments.reconnect.CHUNK_SIZE", 7)
    env = api.get("server")  # the first environment
    task = env.get_task("train", 2)
    gold = sorted(gold_of(synthetic, task.task_spec["id"]))
    with env.session(task) as session:
        first = session.call_tool("search", {"query": task.task_spec["topic"], "k": 100})
        (inside,) = served[0]._open.values()
        assert inside.last is not None and first.blocks[0].text == inside.last.text
        bad = session.call_tool("search", {"query": "half \ud800 a letter", "unknown": "\ud800"})
        assert "unknown" in json.loads(bad.blocks[0].text)["result"]["error"]
        assert (bad.reward, bad.finished) == (0.0, False)
        with pytest.raises(ToolCallError, match="not_found"):
            session.call_tool("serch", {})
        session.call_tool("select", {"paper_ids": gold[:2]})
        end = session.call_terminal_tool("These are all.")
        assert end.finished and end.metadata["valid"]
        assert end.reward == 2 / len(gold) == end.metadata["info"]["metrics"]["recall@100"]
        assert end.metadata["total"] == pytest.approx(first.reward + end.reward)
        with pytest.raises(ToolCallError, match="episode_finished"):
            session.call_tool("search", SEARCH)


def test_a_rollout_whose_tool_breaks_has_a_blank_reward(
    api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("of the engine")

    with api.get("server").session(split="train", index=0) as session:
        monkeypatch.setattr("arena.session.make_searches", broken)
        got = session.call_tool("search", SEARCH)
        assert (got.reward, got.finished, got.metadata["valid"]) == (None, True, False)
        assert "of the engine" not in got.blocks[0].text


def test_what_opens_no_episode_says_why(api: Any, url: str) -> None:
    def create(number: int, **body: Any) -> tuple[int, str]:
        head = {"X-Session-ID": f"mine {number}"}
        got = requests.post(f"{url}/create", json=body, headers=head)
        return got.status_code, got.text

    for number, (body, said) in enumerate(
        (
            ({"task_spec": {"topic": "x"}}, "give one of list_tasks"),
            ({"task_spec": {"id": "nobody's"}}, "no topic"),
            ({"split": "all", "index": 0}, "Invalid split"),
            ({"split": "train", "index": 10**6}, "Invalid index"),
        )
    ):
        status, text = create(number, **body)
        assert status == 400 and said in text
    codes = [create(number, split="train", index=0)[0] for number in range(10, 14)]
    assert codes == [200, 200, 200, 503]  # the client tries again
    for number in range(10, 14):
        requests.post(f"{url}/delete", headers={"X-Session-ID": f"mine {number}"})


def test_a_token_stands_in_the_address(served: list[Sessions]) -> None:
    AppStatus.should_exit_event = None
    with serving(make_app(served), "secret") as url:
        assert requests.get(f"{url}/list_environments").status_code == 401
        with (
            EnvironmentsAPI(url.replace("//", "//any:secret@"), "") as api,
            api.get("server").session(split="test", index=0) as session,
        ):
            assert session.call_tool("search", SEARCH).reward is not None
    AppStatus.should_exit_event = None


def test_trl_is_paid_the_sum(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = [{"total": 0.25, "valid": True}, None, {"total": 0.75, "valid": True}, None]
    over = SimpleNamespace(finished=True, metadata=told)
    failed = SimpleNamespace(finished=True, metadata=[*told, {"total": 0.75, "valid": False}])
    left = SimpleNamespace(finished=False, metadata=told[:1])
    left.finish = lambda: left.metadata.append({"total": 0.5, "valid": True})
    lost = SimpleNamespace(finished=False, metadata=[None], finish=lambda: None)
    assert episode_rewards([over, failed, left, lost]) == [0.75, None, 0.5, None]
    spec = pytest.importorskip("trl.experimental.openreward", reason="TRL is not installed")
    for name in ("OPENREWARD_API_URL", "OPENREWARD_SESSION_URL"):
        monkeypatch.setenv(name, url)
    rollouts = spec.OpenRewardSpec(url, split="train", num_tasks=2)
    row = rollouts.train_dataset[1]
    assert row.keys() == {"prompt", "task_index", "id", "topic"}
    rollout = rollouts.environment_factory()
    assert row["topic"] in rollout.reset(**row)
    assert "hits" in rollout.search(query="lattice")
    (reward,) = episode_rewards([rollout])
    assert rollout.finished and reward == rollout.metadata[-1]["total"]
    rollout._close()


@pytest.mark.slow
def test_the_command_serves_this_machine_alone(synthetic: Path) -> None:
    words = f"-m arena serve ors --task discovery --task selection --port 0 --corpus {synthetic}"
    command = [sys.executable, *words.split()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        (address,) = re.findall(r"http://127\.0\.0\.1:\d+", line)
        assert requests.get(f"{address}/health").json() == {"status": "ok"}
        assert requests.get(f"{address}/selection/tools").json()["tools"]
        printed = run("ors", "openreward", {"http://127.0.0.1:8000": address})
        process.terminate()
        assert process.stdout.read() == ""  # nothing for each request
    topic, total, finished = json.loads(printed)
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic)
    first, _ = env.reset(options={"topic_id": next(iter(env.unwrapped.topics))})
    assert (first["topic"], True) == (topic, finished)
    found = env.step({"tool": "search", "arguments": {"query": topic, "k": 10}})
    hits = [hit["id"] for hit in json.loads(found[0]["result"])["hits"]]
    end = env.step({"tool": "submit", "arguments": {"paper_ids": hits}})
    assert total == found[1] + end[1] > 0
