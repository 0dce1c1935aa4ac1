"""Retrievers, metrics, rewards, tools, tasks and agents of a file, named FILE.py:NAME."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

import arena
import arena.cli
import arena.envs
from arena import plugins
from arena.errors import CorpusError, DataError
from arena.kit.code import source_sha256
from arena.metrics import METRICS
from arena.results.comparison.report import verdict

PLUGINS = '''
import arena
from arena.metrics import checked, metric
from arena.rewards import Reward
from arena.tasks import Task, task
from arena.tools import tool

@metric("found", "ranking")
def found(ranking, gains, context):
    """Number of gold ids."""
    top, gold = checked(ranking, gains, context)
    return float(len(set(top) & set(gold)))

class Steps(Reward):
    """Pays for each step."""
    def terms(self, progress):
        return {"Steps": 1.0}

@tool("shout")
def say(episode, words: str) -> dict:
    """Say it louder.

    Args:
        words: What to say.
    """
    return {"said": words.upper()}

@task("quick")
class Quick(Task):
    """A quick one."""
    instruction = "Be quick."
    metrics = ("recall@10",)
    headline = "recall@10"

class Shouts(arena.Agent):
    def act(self, observation):
        if not hasattr(self, "done") and "shout" in [t["function"]["name"] for t in self.tools]:
            self.done = True
            return {"tool": "shout", "arguments": {"words": "abc"}}
        return {"tool": "finish", "arguments": {}}
'''


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("plugins") / "plugins_of_mine.py"
    path.write_text(PLUGINS)
    return path


def arena_command(*words, **environment):
    command = [sys.executable, "-m", "arena", *map(str, words)]
    env = {**os.environ, **environment}
    return subprocess.run(command, env=env, capture_output=True, text=True)


def test_everything_of_a_file(synthetic, tmp_path, file, capsys, monkeypatch):
    output = tmp_path / "run"
    command = [
        "run", "--corpus", str(synthetic), "--task", f"{file}:quick", "--agent", f"{file}:Shouts",
        "--reward", f"{file}:Steps+gain", "--env-option", f"tools={file}:shout", "--topics", "2",
        "--metric", f"{file}:found@5", "--metric", "map", "--output", str(output),
    ]  # fmt: skip
    assert arena.cli.main(command) == 0, capsys.readouterr().err
    assert {"recall@10", "found@5", "map"} <= set(capsys.readouterr().out.split())
    manifest = json.loads((output / "manifest.json").read_text())
    assert str(file.parent) not in json.dumps(manifest)  # names and no path
    assert (manifest["task"], manifest["agent"]) == ("quick", "Shouts")
    assert manifest["environment"]["reward"] == "Steps+gain"
    assert manifest["environment"]["tools"] == ["shout"]
    assert manifest["metrics"]["names"] == ["found@5", "map"]
    (plugin,) = manifest["plugins"]
    assert plugin["file"] == file.name
    assert plugin["sha256"] == source_sha256(file.read_bytes())
    assert sorted(plugin["names"]) == [
        "agent Shouts", "metric found", "reward Steps", "task quick", "tool shout",
    ]  # fmt: skip
    first = json.loads((output / "trajectories.jsonl").read_text().splitlines()[0])
    assert [step["reward"] for step in first["steps"]] == [1.0, 1.0]
    # Another process has to be given the file, and says so; opened runs execute nothing.
    verify = ["verify", output, "--corpus", synthetic]
    for done in (
        arena_command(*verify, ARENA_PLUGINS=str(file)), arena_command("--plugin", file, *verify),
    ):  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("Verified: 2 episodes, 4 steps.\n")
    for done in (arena_command(*verify), arena_command("compare", output)):
        assert done.returncode == 2
        assert done.stderr == (
            f"arena: error: {str(output)!r} was run with the task 'quick' of {file.name}, which is "
            f"not loaded. Load it: --plugin {file.name}.\n"
        )
    listed = arena_command("plugins", "--plugin", file).stdout
    assert re.findall(r"^(\w+) +(\w+) +plugins_of_mine\.py", listed, re.MULTILINE) == [
        ("metric", "found"), ("task", "quick"), ("tool", "shout"),
    ]  # fmt: skip
    assert "arena/Quick-v0" in arena_command("list", "environments", "--plugin", file).stdout


def test_a_changed_plug_in(synthetic, tmp_path, file):
    """The run is not verified; one that was begun is another run."""
    mine, output = tmp_path / file.name, tmp_path / "run"
    mine.write_text(PLUGINS)
    run = ["run", "--corpus", synthetic, "--task", f"{mine}:quick", "--agent", "title", "--topics",
           "2", "--output", output]  # fmt: skip
    assert arena_command(*run).returncode == 0
    mine.write_text(PLUGINS.replace("A quick one", "Another text"))
    verified = arena_command("verify", output, "--corpus", synthetic, "--plugin", mine)
    assert verified.returncode == 1, verified.stderr
    assert f"The plug-in {mine.name} has changed since the run (task quick)." in verified.stderr
    resumed = arena_command(*run)
    assert resumed.returncode == 2
    assert "contains another run (it differs in sha256 of code" in resumed.stderr


def test_a_tool_that_one_environment_used_appears_in_no_other(synthetic, tmp_path, file):
    """Earlier calls in a process change nothing (D6)."""
    runs = []
    for name, tools in (("before", []), ("used", [f"{file}:shout"]), ("after", [])):
        agent = plugins.load_file(file).Shouts
        arena.run(synthetic, "discovery", agent, tmp_path / name, topics=2, tools=tools)
        lines = (tmp_path / name / "trajectories.jsonl").read_text().splitlines()
        runs.append([step["action"] for line in lines for step in json.loads(line)["steps"]])
    before, used, after = runs
    assert before == after
    assert used[0]["tool"] == "shout"


@pytest.mark.parametrize(
    ("option", "setting"),
    [
        (["--task", "discovery"], "task=selection"),
        (["--task", "discovery", "--reward", "gain"], "reward=final"),
        (["--task", "discovery", "--retriever", "bm25"], "retriever=hybrid(bm25,bm25)"),
        (["--task", "discovery", "--encoder", "static"], "encoder=minilm"),
    ],
)
def test_what_the_command_line_says_twice_and_differently(
    synthetic, tmp_path, capsys, option, setting
):
    command = [
        "run",
        "--corpus",
        str(synthetic),
        "--agent",
        "title",
        "--output",
        str(tmp_path / "run"),
    ]
    assert arena.cli.main([*command, *option, "--env-option", setting]) == 2
    error = capsys.readouterr().err
    assert f"{option[-2]} {option[-1]} and --env-option {setting} say different things" in error
    assert not (tmp_path / "run").exists()


def test_what_is_opened_loads_no_file(synthetic, tmp_path):
    """A corpus or a run from elsewhere cannot have a file executed by naming it."""
    evil, corpus, run = tmp_path / "evil.py", tmp_path / "corpus", tmp_path / "run"
    evil.write_text(f"open({str(tmp_path / 'executed')!r}, 'w')\nclass Evil: ...\n")
    shutil.copytree(synthetic, corpus)
    arena.run(synthetic, "discovery", "title", run, topics=1)
    manifest = corpus / "index" / "bm25" / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"engine": f"{evil}:Evil"}))
    with pytest.raises(CorpusError, match="names the plug-in"):
        arena.Corpus.open(corpus, check=False).at("2020-01-01").search("graphs")
    recorded = json.loads((run / "manifest.json").read_text())
    name = f"{evil}:Evil"
    for part in ({"retriever": name}, {"reward": f"gain+{name}"}, {"retrievers": [name]},
                 {"sampler": name}):  # fmt: skip
        place = "budget" if "sampler" in part else "environment"  # both are settings
        changed = recorded | {place: recorded[place] | part}
        (run / "manifest.json").write_text(json.dumps(changed))
        with pytest.raises(CorpusError, match="names the plug-in"):
            arena.verify(run, synthetic)
    assert not (tmp_path / "executed").exists()


def test_metrics_beside_those_of_the_task(synthetic, tmp_path):
    names = ["map", "f1@10", "r-precision", "success@5", "ari"]
    run = arena.run(synthetic, "pipeline", "random", tmp_path / "run", topics=3, metrics=names)
    again = arena.rescore(tmp_path / "run", synthetic, names)
    assert list(run["mean"])[-9:] == list(again["mean"])
    assert {name: run["mean"][name] for name in again["mean"]} == again["mean"]
    assert "selection.map" in run["mean"]
    # Other metrics play nothing again.
    trajectories = (tmp_path / "run/trajectories.jsonl").read_bytes()
    plain = arena.run(synthetic, "pipeline", "random", tmp_path / "run", topics=3)
    assert list(plain["mean"]) == list(run["mean"])[:-9]
    assert (tmp_path / "run/trajectories.jsonl").read_bytes() == trajectories
    with pytest.raises(arena.errors.UnknownNameError, match="Did you mean 'map'"):
        arena.run(synthetic, "pipeline", "random", tmp_path / "x", metrics=["mapp"])
    with pytest.raises(DataError, match="'ari' scores a map"):
        arena.run(synthetic, "discovery", "random", tmp_path / "x", metrics=["ari"])
    assert not (tmp_path / "x").exists()


def test_a_metric_with_a_direction_is_one_file(synthetic, tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(
        "from arena.metrics import metric\n"
        "@metric('hallucinations', 'report', lower_is_better=True)\n"
        "def hallucinations(report, gold, context):\n"
        "    return float(sum(each.paper not in gold.gains for each in report.cited))\n"
    )
    name, runs = METRICS.resolve(f"{file}:hallucinations"), {}
    for agent in ("random", "title"):
        options = {"topics": 3, "metrics": [name], "reward": name}
        runs[agent] = arena.run(synthetic, "report", agent, tmp_path / agent, **options)
    random, title = (run["mean"]["hallucinations"] for run in runs.values())
    assert random > title > 0
    for run in runs.values():
        for entry in run["per_topic"].values():
            assert entry["return"] == -entry["hallucinations"]
    found = arena.compare([tmp_path / "random", tmp_path / "title"], metrics=["hallucinations"])
    assert "title, bm25 has a better mean hallucinations (lower is better)" in verdict(found)
    (difference,) = found.metrics[0].differences
    assert (difference.wins, difference.losses) == (3, 0)


def test_a_failure_of_a_plug_in_names_its_file(synthetic, tmp_path, capsys):
    file = tmp_path / "divides.py"
    file.write_text(
        "from arena.metrics import metric\n@metric('divides', 'ranking')\n"
        "def divides(ranking, gains, context):\n    return 1 / 0\n"
    )
    command = ["run", "--corpus", str(synthetic), "--task", "discovery", "--agent", "title"]
    options = ["--topics", "1", "--metric", f"{file}:divides", "--output", str(tmp_path / "run")]
    assert arena.cli.main([*command, *options]) == 2
    assert capsys.readouterr().err == (
        f"arena: error: {str(file)!r} line 4: ZeroDivisionError: division by zero\n"
    )


HELPED = """
import json
from helper_of_mine import K
from arena import Agent


class Mine(Agent):
    def act(self, observation):
        hits = json.loads(observation["result"]).get("hits")
        if hits is not None:
            return {"tool": "submit", "arguments": {"paper_ids": [hit["id"] for hit in hits]}}
        return {"tool": "search", "arguments": {"query": observation["topic"], "k": K}}
"""


def test_what_an_agent_imports_counts_as_the_agent(synthetic, tmp_path):
    """In processes of their own, as a person would, who changes a file between two commands."""
    (tmp_path / "mine.py").write_text(HELPED)
    helper = tmp_path / "helper_of_mine.py"

    def run(k: int) -> subprocess.CompletedProcess[str]:
        helper.write_text(f"K = {k}\n")
        return subprocess.run(
            [sys.executable, "-m", "arena", "run", "--corpus", str(synthetic),
             "--task", "discovery",
             "--agent", f"{tmp_path}/mine.py:Mine", "--output", str(tmp_path / "run"),
             "--topics", "2"],
            capture_output=True, text=True,
        )  # fmt: skip

    first, again, other = run(10), run(10), run(20)
    assert (first.returncode, again.returncode, other.returncode) == (0, 0, 2), first.stderr
    assert "no episode was played" in again.stdout and "no episode" not in first.stdout
    assert "code of arena, baselines or the agent has changed" in other.stderr
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert list(manifest["agent_files"]) == ["helper_of_mine.py"]


def test_two_files_with_other_neighbours_of_one_name(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "shared_name.py").write_text(f"NAME = {name!r}\n")
        (tmp_path / name / "agent.py").write_text("import shared_name\n")
    arena.plugins.load_file(tmp_path / "one" / "agent.py")
    with pytest.raises(DataError, match=r"two/shared_name.py' cannot be imported: .* Rename"):
        arena.plugins.load_file(tmp_path / "two" / "agent.py")
