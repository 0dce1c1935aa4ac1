"""Episodes side by side in threads: the files of one after the other, for agents that wait."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from llm_server import LLMServer, Trouble, completion
from scripted_agents import helpful

import arena
from arena.agents import AGENTS
from arena.errors import AgentError, DataError
from arena.tasks import TaskSet


def files(run: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in run.iterdir() if p.name != "machine.json"}


def slow(body):
    """An answer that comes the later, the shorter the request is: the order of ends is another."""
    answer = json.dumps(completion(helpful(body), body)).encode()
    return Trouble(200, answer, slow=0.02 + len(str(body)) % 7 / 50)


def test_the_files_do_not_depend_on_the_threads(synthetic, tmp_path, monkeypatch):
    monkeypatch.setenv("ARENA_LLM_MODE", "live")

    def play(name, **options):
        with LLMServer(slow) as server:
            model = {"model": "scripted", "base_url": server.url}
            arena.run(
                synthetic, "discovery", "self-rag", tmp_path / name, agent_options=model, **options
            )
        return server.most_at_once

    assert play("one", parallel=1) == 1
    assert play("default") > 2  # an agent that asks a model says that it waits
    assert files(tmp_path / "one") == files(tmp_path / "default")


class Fails(AGENTS.get("title")):
    """Fails in the episode of one topic."""

    waits = True
    unrecorded = frozenset({"bad"})

    def __init__(self, seed=0, bad=""):
        super().__init__(seed)
        self._bad = bad

    def act(self, observation):
        if observation["topic"] == self._bad:
            raise ValueError("a bad day")
        return super().act(observation)


def test_episodes_before_a_failure_are_kept_and_the_same_command_continues(synthetic, tmp_path):
    whole, run = tmp_path / "whole", tmp_path / "run"
    arena.run(synthetic, "discovery", Fails, whole, parallel=1)
    order = [json.loads(line)["topic_id"] for line in lines_of(whole)]
    bad = TaskSet(synthetic).topic(order[3]).text.lower()
    with pytest.raises(AgentError, match=r"failed on topic .*a bad day"):
        arena.run(synthetic, "discovery", Fails, run, agent_options={"bad": bad})
    assert lines_of(run) == lines_of(whole)[:3]
    arena.run(synthetic, "discovery", Fails, run)
    assert files(run) == files(whole)


def lines_of(run: Path) -> list[bytes]:
    return (run / "trajectories.jsonl").read_bytes().splitlines()


def test_threads_and_processes_are_not_mixed(synthetic, tmp_path):
    for options in ({"jobs": 2}, {"isolate": True}, {"executor": "ray"}):
        with pytest.raises(DataError, match="give parallel, or jobs, isolate or executor"):
            arena.run(synthetic, "discovery", "title", tmp_path / "run", parallel=2, **options)


THREADS = """
import sys, time, threadpoolctl, arena
from arena.kit.process import one_thread

class Threads(arena.Agent):
    waits = True

    def act(self, observation):
        with one_thread():
            time.sleep(0.01)  # other episodes leave theirs meanwhile
        self.most = max(each["num_threads"] for each in threadpoolctl.threadpool_info())
        return {"tool": "finish", "arguments": {}}

    def notes(self):
        return {"threads": self.most}

threadpoolctl.ThreadpoolController().limit(limits=2)
arena.run(sys.argv[1], "discovery", Threads, sys.argv[2], parallel=int(sys.argv[3]))
"""


@pytest.mark.parametrize(("parallel", "threads"), [(8, 1), (1, 2)])
def test_linear_algebra_has_one_thread_whichever_episode_ends_first(
    synthetic, tmp_path, parallel, threads
):
    """One after the other, it has its own number again outside of `one_thread`."""
    asked = {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"}
    environment = {name: value for name, value in os.environ.items() if name not in asked}
    command = [sys.executable, "-c", THREADS, str(synthetic), str(tmp_path / "run"), str(parallel)]
    subprocess.run(command, env=environment, check=True)
    notes = [json.loads(line)["notes"] for line in lines_of(tmp_path / "run")]
    assert notes == [{"threads": threads}] * 8
