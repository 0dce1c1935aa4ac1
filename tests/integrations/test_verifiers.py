"""The taskset for verifiers: its rows, the episodes that models leave, and `vf-eval` itself."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import pytest
from llm_server import LLMServer, Trouble, completion, tool_call

from arena.errors import ArenaError
from arena.session import Sessions, opening_text, step_text
from arena.tasks import TaskSet

vf = pytest.importorskip("verifiers.v1")

from clients.verifiers import VerifiersDoor  # noqa: E402

from arena_integrations import verifiers as integration  # noqa: E402

OPTIONS = {"reward": "gain+recall@100", "max_steps": 20}


def taskset(corpus: Path, **config: Any) -> Any:
    return vf.load_taskset(
        integration.ResearchConfig(id="arena-verifiers", corpus=str(corpus), **config)
    )


def actions_of(topic: str, hits: list[str]) -> list[dict[str, Any]]:
    """Good, bad, and the end."""
    return [
        {"tool": "search", "arguments": {"query": topic, "k": 40}},
        {"tool": "search", "arguments": {"query": topic, "k": "many", "where": "here"}},
        {"tool": "select", "arguments": {"paper_ids": hits[:20]}},
        {"tool": "submit", "arguments": {"paper_ids": hits}},
    ]


def ids(result: str) -> list[str]:
    return [hit["id"] for hit in json.loads(result)["hits"]]


def plain(corpus: Path, topic: str, count: int) -> tuple[float, dict[str, float], list[str]]:
    """Play the first actions in the plain environment, then `finish` if it is not over."""
    env = gymnasium.make("arena/Discovery-v0", corpus=corpus, **OPTIONS).unwrapped
    first, _ = env.reset(options={"topic_id": topic})
    observation, total, *_, info = env.step(actions_of(first["topic"], [])[0])
    texts = [step_text(observation)]
    actions = actions_of(first["topic"], ids(observation["result"]))[1:count]
    if count < 4:
        actions.append({"tool": "finish", "arguments": {}})
    for action in actions:
        observation, reward, *_, info = env.step(action)
        texts.append(step_text(observation))
        total += reward
    return total, info["metrics"], texts


def script(count: int) -> Any:
    """Return a model that makes the first actions, then talks; it streams, as harnesses ask."""

    def answer(body: dict[str, Any]) -> Trouble:
        messages = body["messages"]
        topic = json.loads(messages[0]["content"])["topic"]
        results = [m["content"] for m in messages if m["role"] == "tool"]
        hits = ids(json.dumps(json.loads(results[0])["result"])) if results else []
        message: dict[str, Any] = {"role": "assistant", "content": "That is all."}
        if len(results) < count:
            action = actions_of(topic, hits)[len(results)]
            message = tool_call(action["tool"], action["arguments"], f"call_{len(results)}")
            message["tool_calls"][0]["index"] = 0
        whole = completion(message, body) | {"object": "chat.completion.chunk"}
        whole["choices"][0]["delta"] = whole["choices"][0].pop("message")
        stream = f"data: {json.dumps(whole)}\n\ndata: [DONE]\n\n".encode()
        return Trouble(body=stream, headers={"Content-Type": "text/event-stream"})

    return answer


def evaluate(corpus: Path, count: int, output: Path, *more: str) -> list[dict[str, Any]]:
    """Run `vf-eval` against the script; return its traces."""
    binary = Path(sys.executable).with_name("vf-eval")
    root = Path(integration.__file__).parents[2]
    environ = os.environ | {"PYTHONPATH": str(root), "NO_KEY": "x"}
    environ["PATH"] = f"{binary.parent}:{environ['PATH']}"
    with LLMServer(script(count)) as server:
        command = [
            str(binary), "arena-verifiers", "--env.taskset.corpus", corpus.name,
            "--env.taskset.options", json.dumps(OPTIONS), "-m", "scripted", *more,
            "--client.base-url", server.url, "--client.api-key-var", "NO_KEY",
            "--env.agent.harness.id", "null", "--env.agent.runtime.type", "subprocess",
            "--no-push", "--no-rich", "-o", str(output),
        ]  # fmt: skip
        done = subprocess.run(
            command, cwd=corpus.parent, env=environ, capture_output=True, text=True, timeout=300
        )
    assert done.returncode == 0, done.stderr[-2000:]
    (traces,) = output.rglob("traces.jsonl")
    lines = traces.read_text(encoding="utf-8").splitlines()
    return [trace for line in lines for trace in json.loads(line)["traces"]]


@pytest.mark.slow
@pytest.mark.parametrize("count", [4, 3], ids=["submits", "leaves"])
def test_vf_eval_gives_the_rewards_of_the_plain_environment(
    synthetic: Path, tmp_path: Path, count: int
) -> None:
    topics = TaskSet(synthetic).scorable[1:3]
    more = ("--env.taskset.topics", ",".join(topics))
    traces = evaluate(synthetic, count, tmp_path / "out", "-n", "2", "-r", "2", *more)
    assert sorted(t["task"]["data"]["id"] for t in traces) == sorted(topics * 2)
    for trace in traces:
        reward, metrics, texts = plain(synthetic, trace["task"]["data"]["id"], count)
        assert trace["errors"] == []
        assert trace["stop_condition"] == ("over" if count == 4 else "agent_completed")
        assert trace["rewards"] == {"reward": {"score": reward, "weight": 1.0}}
        assert {name: trace["metrics"][name] for name in metrics} == metrics
        assert trace["metrics"]["calls"] == 4  # with the end
        told = dict(trace["info"]["arena"])
        assert told.pop("telemetry")["calls"] == 4
        assert told.pop("termination") == ("submitted" if count == 4 else "finished")
        assert told == {"reward": reward, "metrics": metrics, "left": count < 4}
        messages = [node["message"] for node in trace["nodes"]]
        assert [m["content"] for m in messages if m["role"] == "tool"] == texts[:3]
    assert any(trace["metrics"]["recall@100"] > 0 for trace in traces)


@pytest.mark.slow
def test_a_result_that_the_model_never_read_is_not_paid(synthetic: Path, tmp_path: Path) -> None:
    topic = next(name for name in TaskSet(synthetic).scorable if plain(synthetic, name, 1)[0] > 0)
    more = ("--env.taskset.topics", f"{topic},", "--env.agent.max-turns", "1", "-n", "1")
    (trace,) = evaluate(synthetic, 4, tmp_path / "out", *more)
    assert (trace["stop_condition"], trace["errors"]) == ("max_turns", [])
    assert trace["rewards"] == {"reward": {"score": 0.0, "weight": 1.0}}


def test_rows_name_topics_and_hold_no_label(synthetic: Path) -> None:
    tasks = list(taskset(synthetic, topics=2, options=OPTIONS))
    first, second = TaskSet(synthetic).scorable[:2]
    assert [task.data.id for task in tasks] == [first, second]
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic, **OPTIONS)
    assert tasks[1].data.prompt == opening_text(env.reset(options={"topic_id": second})[0])
    row = tasks[0].data.model_dump_json()
    assert not any(paper in row for paper in TaskSet(synthetic).gold(first).gains)
    assert len(list(taskset(synthetic))) == len(TaskSet(synthetic).scorable)


def test_vf_eval_says_what_is_wrong_without_a_traceback(tmp_path: Path) -> None:
    command = [str(Path(sys.executable).with_name("vf-eval")), "arena-verifiers"]
    command += ["--env.taskset.corpus", "nowhere", "-m", "scripted", "-o", "out"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert "there is no directory" in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_session_there_is_no_reward(synthetic: Path) -> None:
    sessions = Sessions(gymnasium.make("arena/Discovery-v0", corpus=synthetic), max_sessions=1)
    integration_of = VerifiersDoor(sessions)
    integration_of.open(1, None)
    sessions._open.clear()
    sessions.open("of another rollout")
    result = integration_of._portal.call(integration_of._client.call_tool, "finish", {})
    assert result.is_error
    trace: Any = SimpleNamespace(state=integration_of._tools.rollout, info={})
    assert not trace.state.over
    with pytest.raises(ArenaError, match="1 of 1 session in use"):
        asyncio.run(integration.ResearchTask.finalize(None, trace))
    assert trace.info == {}
    integration_of.close()
