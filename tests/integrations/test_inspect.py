"""The tasks for inspect_ai: real evaluations of scripted models. The contract test plays more."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import gymnasium
import pytest
from llm_server import LLMServer, last_text, tool_call

from arena.session import Sessions

pytest.importorskip("inspect_ai", reason="inspect_ai is not installed: see docs/integrations.md")

from inspect_ai import eval as evaluate
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import solver

from arena_integrations import inspect as integration

# Streams of inspect's own event loop.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*MemoryObjectReceiveStream:pytest.PytestUnraisableExceptionWarning"
)
SURVEYS, GAIN = 3, {"reward": "gain"}


def model(*script):
    """A model that writes these texts or makes these calls, then starts again."""

    def outputs():
        while True:
            for each in script:
                output = (
                    ModelOutput.from_content("mockllm/model", each)
                    if isinstance(each, str)
                    else ModelOutput.for_tool_call("mockllm/model", *each)
                )
                output.usage = ModelUsage()  # else it counts tokens with a downloaded table
                yield output

    return get_model("mockllm/model", custom_outputs=outputs(), memoize=False)


@pytest.fixture
def run(synthetic, tmp_path, monkeypatch):
    """Return a function that evaluates a task and checks that no session stays open."""
    made = []
    make = Sessions.make.__func__

    def keep(cls, *arguments, **options):
        made.append(make(cls, *arguments, **options))
        return made[-1]

    monkeypatch.setattr(Sessions, "make", classmethod(keep))

    def play(model, name="discovery", topics=SURVEYS, options=None, **settings):
        task = integration.episodes(name, synthetic, topics, **(options or {}))
        (log,) = evaluate(
            task, model=model, log_dir=str(tmp_path), display="none", max_samples=1, **settings
        )
        assert len(made[-1]) == 0
        return log

    return play


def values(log, name):
    return [sample.scores["metrics"].value[name] for sample in log.samples]


def results(sample):
    """The result of each tool call as the model reads it."""
    tools = [message for message in sample.messages if message.role == "tool"]
    return [message.error.message if message.error else message.text for message in tools]


def test_steps_are_those_of_the_environment(synthetic, run):
    log = run(model(("search", {"query": "lattice", "k": 100}), ("finish", {})), options=GAIN)
    assert log.status == "success" and log.eval.metadata["sha256"]["corpus"]
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic, **GAIN)
    for sample in log.samples:
        env.reset(options={"topic_id": sample.id})
        step = env.step({"tool": "search", "arguments": {"query": "lattice", "k": 100}})
        paid = step[1]
        *_, info = env.step({"tool": "finish", "arguments": {}})
        assert sample.scores["metrics"].value == {**info["metrics"], "reward": paid}
        hits = json.loads(results(sample)[0])["result"]
        assert json.dumps(hits) == json.dumps(json.loads(step[0]["result"]))  # whole: over 14 kB
        rewards = [e.data["reward"] for e in sample.events if e.event == "info"]
        assert rewards == [paid, 0.0]
        assert sample.target == "" and json.loads(sample.input)["cutoff"]
    assert log.results.scores[0].name == "recall@100"  # the headline


def test_a_model_that_only_makes_bad_calls_is_stopped(run):
    log = run(model(("no_tool", {})), topics=1, options={"max_steps": 3})
    (sample,) = log.samples
    assert sample.limit.type == "message" and len(sample.messages) <= 12
    assert sample.scores["metrics"].value["recall@100"] == 0.0


@solver
def broken():
    async def solve(state, generate):
        raise RuntimeError("not today")

    return solve


def test_a_failing_solver_leaves_no_session_and_epochs_have_their_own(run):
    log = run(model("x"), solver=broken(), fail_on_error=False)
    assert ["not today" in sample.error.message for sample in log.samples] == [True] * SURVEYS
    log = run(model(("finish", {})), topics=2, epochs=2)
    assert len(log.samples) == 4 and all(len(s.messages) == 3 for s in log.samples)


def answers(body):
    said = sum(message["role"] == "assistant" for message in body["messages"])
    topic = json.loads(last_text({"messages": body["messages"][:1]}))["topic"]
    return tool_call("finish" if said else "search", {} if said else {"query": topic})


def test_the_command_line(synthetic, tmp_path):
    """`inspect eval` with an OpenAI-compatible server over HTTP."""
    pytest.importorskip("openai")
    if not metadata.entry_points(group="inspect_ai", name="arena"):
        pytest.skip("the project is not installed here")
    command = [Path(sys.executable).parent / "inspect", "eval", "arena/discovery", "--model"]
    command += ["openai-api/local/scripted", "-T", f"corpus={synthetic}", "-T", "topics=2"]
    command += ["-T", "reward=gain"]
    with LLMServer(answers) as server:
        local = {"LOCAL_BASE_URL": server.url, "LOCAL_API_KEY": "any"}
        subprocess.run(
            [*command, "-T", "max_steps=9", "--log-dir", tmp_path, "--display", "none"],
            env=os.environ | local, check=True, timeout=120, cwd=tmp_path,
        )  # fmt: skip
    log = read_eval_log(str(next(tmp_path.glob("*.eval"))))
    assert log.status == "success" and len(log.samples) == 2
    assert json.loads(log.samples[0].input)["budget"]["steps"] == 9
    assert log.eval.task_args["topics"] == 2 and any(v > 0 for v in values(log, "reward"))
