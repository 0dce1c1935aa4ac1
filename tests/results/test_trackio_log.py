"""Runs as a project of trackio, read by its own commands (`make integrations`)."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from helpers import call

import arena
from arena.runs.directory import OpenedRun
from arena.session import Sessions

pytest.importorskip(
    "trackio", reason="its pins exclude those of the other tests: make integrations"
)


@pytest.fixture
def command(tmp_path):
    """Runs a command of a module with a store of its own; returns what it printed."""
    env = os.environ | {"TRACKIO_DIR": str(tmp_path / "store")}

    def command(module, *words, status=0):
        line = [sys.executable, "-m", module, *map(str, words)]
        done = subprocess.run(line, env=env, capture_output=True, text=True)
        assert done.returncode == status, done.stderr
        return done.stderr if status else done.stdout

    return command


def test_trackio_reads_every_episode(synthetic, tmp_path, command):
    arena.run(synthetic, "discovery", "title", tmp_path / "run", topics=3)
    for _ in range(2):  # the second export replaces the first
        command(
            "arena", "export", "trackio", tmp_path / "run", "--corpus", synthetic, "--project", "p"
        )
    of = ("--project", "p", "--run", "title, bm25", "--json")
    found = json.loads(command("trackio.cli", "get", "metric", *of, "--metric", "recall@100"))
    records = list(OpenedRun(tmp_path / "run").episodes())
    assert [(each["step"], each["value"]) for each in found["values"]] == [
        (n, record["metrics"]["recall@100"]) for n, record in enumerate(records, 1)
    ]
    assert found["values"] == sorted(found["values"], key=lambda each: each["timestamp"])
    assert json.loads(command("trackio.cli", "get", "run", *of))["config"]["agent"] == "title"
    traces = json.loads(command("trackio.cli", "list", "traces", *of))["traces"]
    by_topic = {trace["metadata"]["topic_id"]: trace["messages"] for trace in traces}
    assert by_topic.keys() == {record["topic_id"] for record in records}
    for messages in by_topic.values():
        assert [m["role"] for m in messages] == ["user", "assistant", "tool", "assistant"]
        assert messages[1]["tool_calls"][0]["function"]["name"] == "search"


def test_rollouts_of_a_trainer_are_read(tiny, tmp_path, command):
    sessions = Sessions.make(tiny, record=tmp_path / "rollouts")
    session = sessions.open(topic_id="s1")
    session.step(call("search", query="encoders", k=9))
    total = session.finish()
    words = ("export", "trackio", tmp_path / "rollouts", "--corpus", tiny, "--project")
    assert "1 episode" in command("arena", *words, "p")
    of = ("--project", "p", "--run", "Recorded, bm25", "--json", "--metric", "reward")
    (value,) = json.loads(command("trackio.cli", "get", "metric", *of))["values"]
    assert value["value"] == pytest.approx(total.reward)
    assert "registr" in command("arena", *words, "registry-x", status=2)
