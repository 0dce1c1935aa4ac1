"""Whatever an agent does, the run names the agent, ends with 2 and keeps what was played."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import contents

import arena
import arena.cli
from arena.agents import AGENTS, Agent, Researcher
from arena.errors import AgentError, DataError

# Fails in one method, on the third episode or at the beginning of the run.
FAILING = """
import arena
Title = arena.agents.AGENTS.get("title")
made = 0

class Failing(Title):
    def __init__(self, seed=0, method="", raises=""):
        global made
        super().__init__(seed)
        made += 1  # the first one shows the prompts
        self.fails = {method: made == 4 or method in ("prompts", "prepare")}
        self.raises = raises
        self.may_fail("__init__")
    def may_fail(self, method):
        if self.fails.get(method):
            raise eval(self.raises)
    def prompts(self):
        self.may_fail("prompts")
        return {}
    def prepare(self):
        self.may_fail("prepare")
    def act(self, observation):
        self.may_fail("act")
        return super().act(observation)
    def notes(self):
        self.may_fail("notes")
        return {}
"""


@pytest.mark.parametrize("raises", ["SystemExit(0)", "GeneratorExit()", "ValueError('no')"])
@pytest.mark.parametrize("method", ["__init__", "act", "notes", "prompts", "prepare"])
def test_a_failure_of_the_agent_is_the_agents(synthetic, tmp_path, capsys, method, raises):
    file = tmp_path / "failing.py"
    file.write_text(FAILING)
    output = tmp_path / "run"
    command = [
        "run", "--corpus", str(synthetic), "--task", "discovery", "--agent", f"{file}:Failing",
        "--output", str(output), "--topics", "4", "--agent-option", f"method={method}",
        "--agent-option", f"raises={raises}",
    ]  # fmt: skip
    assert arena.cli.main(command) == 2
    error = capsys.readouterr().err
    assert error.startswith("arena: error: agent 'Failing' failed ")
    assert error.count("\n") == 1
    assert f"{raises.partition('(')[0]}: " in error
    assert "failing.py line" in error
    if method in ("prompts", "prepare"):
        assert f"in {method}()" in error
        assert not output.exists()
    else:
        assert " on topic 'w" in error
        assert len((output / "trajectories.jsonl").read_bytes().splitlines()) == 2


def test_a_mended_agent_begins_where_no_episode_was_played(synthetic, tmp_path, capsys):
    file, output = tmp_path / "mine.py", tmp_path / "run"
    command = [
        "run", "--corpus", str(synthetic), "--task", "discovery", "--agent", f"{file}:Mine",
        "--output", str(output), "--topics", "1",
    ]  # fmt: skip
    body = "import arena\nclass Mine(arena.Researcher):\n    def discover(self, desk):\n        "
    file.write_text(body + "yield from desk.nothing()\n")
    assert arena.cli.main(command) == 2
    file.write_text(body + "yield from desk.search(desk.topic)\n")
    capsys.readouterr()
    assert arena.cli.main(command) == 0, capsys.readouterr().err
    file.write_text(body + "yield from desk.search('another')\n")
    assert arena.cli.main(command) == 2  # there is an episode now
    assert "contains another run" in capsys.readouterr().err


class Interrupted(Agent):
    def act(self, observation: Any) -> Any:
        raise KeyboardInterrupt


def test_ctrl_c_stays_ctrl_c(synthetic, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        arena.run(synthetic, "discovery", Interrupted, tmp_path / "run")


class NoSeed(Agent):
    """An option and no seed."""

    def __init__(self, n=10):
        self.n = n

    def act(self, observation: Any) -> Any:
        SEEDS.append(self.seed)
        return {"tool": "finish", "arguments": {}}


SEEDS: list[int] = []


def test_an_agent_need_not_take_a_seed(synthetic, tmp_path):
    arena.run(synthetic, "discovery", NoSeed, tmp_path / "run", agent_options={"n": 3}, topics=2)
    lines = (tmp_path / "run/trajectories.jsonl").read_text().splitlines()
    assert [json.loads(line)["seed"] for line in lines] == SEEDS
    assert len(set(SEEDS)) == 2
    with pytest.raises(DataError, match=r"the agent 'NoSeed' has no option 'm'. Known: n"):
        arena.run(synthetic, "discovery", NoSeed, tmp_path / "x", agent_options={"m": 3})
    with pytest.raises(DataError, match="the agent 'NoSeed' has no option 'seed'"):
        arena.run(synthetic, "discovery", NoSeed, tmp_path / "x", agent_options={"seed": 3})


class Looks(Researcher):
    def discover(self, desk):
        desk.ranking = [hit.id for hit in desk.search(desk.topic)]
        yield from ()


class Indexes(Researcher):
    def discover(self, desk):
        desk.ranking = [desk.search(desk.topic)[0].id]


@pytest.mark.parametrize("agent", [Looks, Indexes])
def test_a_forgotten_yield_from_explains_itself(synthetic, tmp_path, agent):
    with pytest.raises(AgentError, match=r"Is a `yield from` missing .*`hits = yield from desk"):
        arena.run(synthetic, "discovery", agent, tmp_path / "run", topics=1)


class Meddles(Agent):
    """Changes everything it receives, and remembers what it saw."""

    seen: list[Any] = []  # noqa: RUF012

    def __init__(self, words=()):
        self.words = words

    def act(self, observation: Any) -> Any:
        seen = json.dumps([self.tools, self.words])
        self.seen.append((seen, observation["cutoff"]))
        for tool in self.tools:
            function = tool["function"]
            function["description"] = f"used on {observation['topic']}"
            for schema in function["parameters"]["properties"].values():
                schema.setdefault("items", {})["note"] = observation["topic"]
        self.words.append(observation["topic"])
        observation["budget"].clear()
        return {"tool": "finish", "arguments": {}}


def test_an_episode_shows_nothing_of_those_before(synthetic, tmp_path):
    Meddles.seen.clear()
    arena.run(synthetic, "organization", Meddles, tmp_path / "run", agent_options={"words": ["a"]})
    received, cutoffs = zip(*Meddles.seen, strict=True)
    assert len(set(received)) == 1
    assert list(cutoffs) == sorted(cutoffs)


REMEMBERS = """
import os, arena
seen = []

class Remembers(arena.Agent):
    def act(self, observation):
        seen.append(observation["topic"])
        if len(seen) < 4:
            return {"tool": "search", "arguments": {"query": observation["topic"]}}
        return {"tool": "finish", "arguments": {}}
    def notes(self):
        return {"seen": len(set(seen)), "made": %s}
"""


@pytest.mark.slow
def test_a_process_for_each_episode(synthetic, tmp_path):
    file = tmp_path / "remembers.py"
    file.write_text(REMEMBERS % "0")
    arena.run(synthetic, "discovery", f"{file}:Remembers", tmp_path / "one", topics=2)
    assert [record["notes"]["seen"] for record in records(tmp_path / "one")] == [1, 2]
    arena.run(
        synthetic, "discovery", f"{file}:Remembers", tmp_path / "each", topics=2, isolate=True
    )
    assert [record["notes"]["seen"] for record in records(tmp_path / "each")] == [1, 1]


def records(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "trajectories.jsonl").read_text().splitlines()]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["discovery", "pipeline"])
def test_several_at_once_write_the_same_files(synthetic, tmp_path, task):
    arena.run(synthetic, task, "random", tmp_path / "one")
    arena.run(synthetic, task, "random", tmp_path / "two", jobs=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    # More episodes than processes, each process for one episode.
    arena.run(synthetic, task, "random", tmp_path / "alone", jobs=2, isolate=True, topics=3)
    arena.run(synthetic, task, "random", tmp_path / "three", topics=3)
    assert contents(tmp_path / "three") == contents(tmp_path / "alone")


ENDS = """
import os, arena

class Ends(arena.Agent):
    def act(self, observation):
        os._exit(7)
"""


@pytest.mark.slow
def test_an_agent_that_ends_its_process(synthetic, tmp_path):
    file = tmp_path / "ends.py"
    file.write_text(ENDS)
    with pytest.raises(AgentError, match=r"'Ends' failed on topic 'w.*: its process ended"):
        arena.run(synthetic, "discovery", f"{file}:Ends", tmp_path / "run", jobs=2)


def test_an_agent_that_no_other_process_can_make(synthetic, tmp_path):
    class Local(AGENTS.get("title")):  # type: ignore[misc]
        pass

    with pytest.raises(DataError, match=r"'.*Local' cannot be sent to another process"):
        arena.run(synthetic, "discovery", Local, tmp_path / "run", jobs=2)
    with pytest.raises(DataError, match="jobs=0: give an integer >= 1"):
        arena.run(synthetic, "discovery", "title", tmp_path / "run", jobs=0)


@pytest.mark.slow
@pytest.mark.parametrize(("error", "code"), [("SystemExit", 2), ("KeyboardInterrupt", 130)])
def test_a_failure_in_another_process_is_one_line(synthetic, tmp_path, error, code):
    file = tmp_path / "fails.py"
    file.write_text(
        f"import arena\n\nclass Fails(arena.Agent):\n    def act(self, _):\n        raise {error}\n"
    )
    command = ["run", "--corpus", synthetic, "--task", "discovery", "--agent", f"{file}:Fails"]
    process = subprocess.run(
        [sys.executable, "-m", "arena", *command, "--jobs", "2", "--output", tmp_path / "run"],
        stderr=subprocess.PIPE,
    )
    assert process.returncode == code
    # Nor does Python warn of semaphores of the processes that were ended.
    assert len(process.stderr.splitlines()) == 1, process.stderr.decode()
