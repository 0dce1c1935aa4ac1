"""OpenEnv's own clients on a real server; `test_contract.py` plays whole episodes."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("openenv", reason="OpenEnv is not installed: make integrations")
import requests
from openenv.cli._validation import validate_running_environment
from openenv.core import CallToolAction, GenericEnvClient, MCPToolClient
from openenv.validation import Level, run_validation
from serving import serving

from arena import __version__
from arena.session import Sessions, opening_text
from arena.tools import make_searches
from arena_integrations.openenv import make_app

ROOT = Path(__file__).parents[2]
SEARCH = {"query": "nested lattice", "k": 3}


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "call_tool", "tool_name": tool, "arguments": arguments}


@pytest.fixture(scope="module")
def sessions(synthetic: Path) -> Sessions:
    return Sessions.make(synthetic)


@pytest.fixture(scope="module")
def url(sessions: Sessions) -> Iterator[str]:
    with serving(make_app(sessions, max_sessions=64), websockets=True) as url:
        yield url
    assert len(sessions) == 0  # after all clients


def test_many_clients_each_play_their_own_episode(
    url: str, sessions: Sessions, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []

    def counted(searches: Any) -> Any:
        sizes.append(len(searches))
        return make_searches(searches)

    monkeypatch.setattr("arena.session.make_searches", counted)
    topics, env = set(sessions.env.topics.values()), sessions.env.fork()

    async def play(seed: int) -> None:
        async with GenericEnvClient(base_url=url) as client:
            first = await client.reset(seed=seed)
            expected, _ = env.fork().reset(seed=seed)
            assert first.observation["result"] == opening_text(expected)
            assert expected["topic"] in topics
            for left in (49, 48, 47):
                got = await client.step(call("search", **SEARCH))
                assert json.loads(got.observation["result"])["budget"]["searches"] == left
                # Some trainers show a model the whole observation.
                assert set(got.observation) == {"tool_name", "result", "error"}
            got = await client.step(call("finish"))
            assert got.done and got.metadata["info"]["metrics"]["recall@100"] == 0
            state = await client.state()
            assert (state["step_count"], state["over"]) == (4, True)

    async def all_at_once() -> None:
        await asyncio.gather(*(play(seed) for seed in range(64)))

    asyncio.run(all_at_once())
    assert sum(sizes) == 3 * 64 and max(sizes) > 1  # searches are made in batches


def test_one_client_too_many_is_refused(sessions: Sessions) -> None:
    with serving(make_app(sessions, max_sessions=2), websockets=True) as url, ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(GenericEnvClient(base_url=url).sync()).reset(seed=1)
        third = stack.enter_context(GenericEnvClient(base_url=url).sync())
        with pytest.raises(RuntimeError, match=r"2/2 sessions active.*CAPACITY_REACHED"):
            third.reset(seed=1)


def test_refused_messages_change_nothing(url: str) -> None:
    with GenericEnvClient(base_url=url).sync() as client:
        with pytest.raises(RuntimeError, match="no episode is open"):
            client.step(call("search", **SEARCH))
        client.reset(seed=1)
        for action in ({"type": "call_tool"}, call("x") | {"arguments": []}, {"type": "y"}):
            with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
                client.step(action)
        for options, message in (
            ({"seed": -1}, "seed=-1"),
            ({"topic_id": "nobody's"}, "no topic"),
            ({"topicid": "x"}, "Did you mean 'topic_id'"),
            ({"index": 10**6}, "give an integer from 0 to"),
            ({"split": "test"}, "no split 'test'"),
            ({"index": 0, "topic_id": "x"}, "give one"),
        ):
            with pytest.raises(RuntimeError, match=message):
                client.reset(**options)
        got = client.step(call("half \ud800 pair", a="\ud800"))
        assert json.loads(got.observation["result"])["budget"]["steps"] == 99


def test_a_model_that_is_the_client_reads_the_text_alone(url: str) -> None:
    with MCPToolClient(base_url=url).sync() as client:
        client.reset(seed=1)
        assert "search" in [tool.name for tool in client.list_tools()]
        got = client.call_tool("search", **SEARCH)
        assert set(json.loads(got)) == {"stage", "budget", "result"}
        assert set(json.loads(client.call_tool("finish"))) == {"stage", "budget", "result"}
        assert client.step(CallToolAction(tool_name="finish")).done


def test_the_task_api(url: str) -> None:
    with GenericEnvClient(base_url=url).sync() as client:
        topic = client.reset(index=1).metadata["topic_id"]
        tasks = requests.post(f"{url}/researcharena/tasks", json={"split": "all"}).json()["tasks"]
        assert tasks[1]["id"] == topic
        assert set(tasks[1]) == {"index", "id", "topic"}


def test_a_token_is_asked_for(sessions: Sessions) -> None:
    with serving(make_app(sessions), "secret", websockets=True) as url:
        with pytest.raises(ConnectionError, match="401"):
            GenericEnvClient(base_url=url).sync().connect()
        head = {"Authorization": "Bearer secret"}
        with GenericEnvClient(base_url=url, headers=head).sync() as client:
            assert client.reset(seed=1).metadata["topic_id"]


def test_openenv_validates_server_and_folder(synthetic: Path, sessions: Sessions) -> None:
    words = f"-m arena serve openenv --task discovery --port 0 --corpus {synthetic}".split()
    with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        found = re.search(rb"http://\S+", process.stdout.readline())
        assert found
        report = validate_running_environment(found[0].decode(), timeout_s=30)
        process.terminate()
    assert report["passed"], report
    made = run_validation(
        ROOT / "examples" / "openenv-server", max_level=Level.STATIC, skip_build=True
    )
    assert made.verdict.value == "pass", made
    names = [schema["function"]["name"] for schema in sessions.schemas()]
    assert made.manifest.capabilities.declared_tools == names
    assert made.manifest.version == __version__
