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
    limits = {"reward": "gain+recall@100", "max_sessions": 2}
    return [Sessions.make(synthetic, **limits), Sessions.make(synthetic, "selection")]


@pytest.fixture(scope="module")
def url(served: list[Sessions]) -> Iterator[str]:
    AppStatus.should_exit_event = None
    with serving(make_app(served, "train"), "secret") as url:
        yield url.replace("//", "//any:secret@")
    assert not any(map(len, served))


@pytest.fixture
def api(url: str) -> Iterator[Any]:
    with EnvironmentsAPI(url, "") as api:
        yield api


def test_a_task_is_an_environment_and_a_topic_its_task(
    api: Any, url: str, served: list[Sessions], synthetic: Path
) -> None:
    assert requests.get(f"{url}/list_environments").json() == ["discovery", "selection"]
    assert requests.get(f"{url.replace('any:secret@', '')}/health").status_code == 401
    for sessions in served:
        env = api.get("server", variant=sessions.env.task_name)
        assert env.list_splits() == ["train"]
        rows = [task.task_spec for task in env.list_tasks("train")]
        assert rows == [{"id": each, "topic": t} for each, t in sessions.env.topics.items()]
        labels = {paper for row in rows for paper in gold_of(synthetic, row["id"])}
        assert not [paper for paper in labels if paper in json.dumps(rows)]
        with env.session(split="train", index=1) as session:
            assert rows[1]["topic"] == json.loads(session.get_prompt()[0].text)["topic"]


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
    with api.get("server").session(split="train", index=0) as session:
        monkeypatch.setattr("arena.session.make_searches", lambda _: 1 / 0)
        got = session.call_tool("search", SEARCH)
        assert (got.reward, got.finished, got.metadata["valid"]) == (None, True, False)
        assert "zero" not in got.blocks[0].text


def test_what_opens_no_episode_says_why(url: str) -> None:
    first = {"split": "train", "index": 0}
    for body, said in (
        ({"task_spec": {"topic": "x"}}, "give one of list_tasks"),
        ({"task_spec": {"id": "nobody's"}}, "give one of list_tasks"),
        ({"split": "all", "index": 0}, "Invalid split"),
        (first | {"toolset_name": "WebToolset"}, "unknown toolset"),
    ):
        got = requests.post(f"{url}/create", json=body, headers={"X-Session-ID": "a"})
        assert got.status_code == 400 and said in got.text
    heads = [{"X-Session-ID": key} for key in "abc"]
    for head, status in zip(heads, (200, 200, 503), strict=True):  # the client tries again
        requests.post(f"{url}/create", json=first, headers=head)
        assert requests.get(f"{url}/discovery/prompt", headers=head).status_code == status
    requests.post(f"{url}/delete", headers=heads[0])
    assert requests.get(f"{url}/discovery/prompt", headers=heads[2]).status_code == 200
    for head in heads[1:]:
        requests.post(f"{url}/delete", headers=head)


def test_trl_is_paid_the_sum(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    told = [{"total": 0.25, "valid": True}, None, {"total": 0.75, "valid": True}, None]
    over = SimpleNamespace(finished=True, metadata=told)
    failed = SimpleNamespace(finished=True, metadata=[*told, {"total": 0.75, "valid": False}])
    lost = SimpleNamespace(finished=False, metadata=[None], finish=lambda: None)
    assert episode_rewards([over, failed, lost]) == [0.75, None, None]
    spec = pytest.importorskip("trl.experimental.openreward", reason="TRL is not installed")
    for name in ("OPENREWARD_API_URL", "OPENREWARD_SESSION_URL"):
        monkeypatch.setenv(name, url)
    rollouts = spec.OpenRewardSpec(url, split="train", num_tasks=2)
    row = rollouts.train_dataset[1]
    assert row.keys() == {"prompt", "task_index", "id", "topic"}
    rollout = rollouts.environment_factory()
    assert row["topic"] in rollout.reset(**row)
    assert "hits" in rollout.search(query="lattice")
    assert episode_rewards([rollout]) == [rollout.metadata[-1]["total"]]
    assert rollout.finished
    rollout._close()


@pytest.mark.slow
def test_the_command_serves_this_machine_alone(synthetic: Path) -> None:
    words = f"-m arena serve ors --task discovery --task selection --port 0 --corpus {synthetic}"
    command = [sys.executable, *words.split()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        (address,) = re.findall(r"http://127\.0\.0\.1:\d+", process.stdout.readline())
        assert requests.get(f"{address}/selection/tools").json()["tools"]
        printed = run("ors", "openreward", {"http://127.0.0.1:8000": address})
        process.terminate()
        assert process.stdout.read() == ""  # nothing for each request
    topic, total, finished = json.loads(printed)
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic).unwrapped
    assert topic == next(iter(env.topics.values()))
    assert total > 0 and finished
