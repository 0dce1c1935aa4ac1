"""Messages for mistakes that newcomers to plug-ins make."""

from __future__ import annotations

import json

import pytest
from helpers import call, playing

from arena import plugins
from arena.agents import Researcher
from arena.cli import main
from arena.envs import EnvConfig
from arena.errors import DataError
from arena.runs import run

MISTAKES = '''
import numpy as np

from arena.metrics import metric
from arena.rewards import Reward
from arena.tasks import Task
from arena.tools import tool

@metric("words", "ranking")
def words(ranking, gains, context):
    return "many"

@metric("nothing", "ranking")
def nothing(ranking, gains, context):
    return float("nan")

@metric("many_digits", "ranking")
def many_digits(ranking, gains, context):
    return 10 ** 309

@metric("of_numpy", "ranking")
def of_numpy(ranking, gains, context):
    return np.float32(0.25)

class Numpy(Reward):
    def terms(self, progress):
        return {"numpy": np.float32(0.5)}

class Endless(Reward):
    def terms(self, progress):
        return {"endless": float("inf")}

class Gain(Reward):
    def terms(self, progress):
        return {"gain": 2.0}

def undecorated(ranking, gains, context):
    return 1.0

@metric("takes", "ranking")
def takes(ranking, gains, context):
    ranking.clear()
    gains.clear()
    return 1.0

class Nothing(Reward):
    pass

class Unnamed(Task):
    """Without a headline."""
    metrics = ("recall@10",)

class Silent(Task):
    """Nothing submits."""
    metrics = ("recall@10",)
    headline = "recall@10"
    tools = ("search",)

class Half(Reward):
    def terms(self, progress):
        return 0.5

def made(result):
    def look(episode) -> dict:
        """Look."""
        return result
    return look

tool("none")(made(None))
tool("set")(made({"p1", "p2"}))
tool("sets")(made({"found": {"p1", "p2"}}))
tool("titles")(made({"found": {"best": [{"id": "p:leap", "title": "A", "date": "2020"}]}}))
'''


@pytest.fixture
def file(tmp_path):
    (tmp_path / "mistakes.py").write_text(MISTAKES)
    plugins.load([tmp_path / "mistakes.py"])
    return tmp_path / "mistakes.py"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--metric", "words"], "the metric words returned 'many'. It must return a finite number"),
        (["--metric", "nothing"], "the metric nothing returned nan. It must return a finite"),
        (
            ["--reward", "FILE:Half"],
            "the reward Half returned 0.5. It must return its terms, a dict",
        ),
        (["--metric", "FILE:undecorated"], "It needs its decorator there, or is of another kind."),
        (["--metric", "takes"], "'mappingproxy' object has no attribute 'clear'"),
        (["--reward", "FILE:Nothing"], "the reward 'Nothing' does not define terms."),
        (["--task", "FILE:Unnamed"], "the task 'Unnamed' does not define headline."),
        (["--task", "FILE:Silent"], "the task 'Silent' names tools, and none that submits: submit"),
        (["--metric", "many_digits"], "It must return a finite number, or None"),
        (
            ["--reward", "FILE:Endless"],
            "the reward Endless returned {'endless': inf}. It must return",
        ),
        (["--reward", "gain+FILE:Gain"], "{'gain': 2.0}. It must return its terms, a dict of"),
    ],
)
def test_a_wrong_value_names_the_plug_in(mini, tmp_path, file, capsys, options, message):
    options = [option.replace("FILE", str(file)) for option in options]
    words = ["run", "--corpus", str(mini), "--agent", "title"]
    words += [] if "--task" in options else ["--task", "discovery"]
    assert main([*words, "--plugin", str(file), *options, "--output", str(tmp_path / "run")]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_numbers_of_numpy_are_numbers(mini, tmp_path, file):
    options = {"metrics": ["of_numpy"], "reward": f"gain+{file}:Numpy"}
    summary = run(mini, "discovery", "title", tmp_path / "run", topics=["sv:1"], **options)
    assert summary["mean"]["of_numpy"] == 0.25
    (line,) = (tmp_path / "run" / "trajectories.jsonl").read_text().splitlines()
    assert json.loads(line)["steps"][-1]["reward_terms"]["numpy"] == 0.5


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ("none", "the tool none returned None. It must return a dict, ToolResult or Search"),
        ("set", "the tool set returned {'p.', 'p.'}. It must return a dict"),
        ("sets", "the tool sets returned {'found': .*. It must return a dict of values of JSON"),
    ],
)
def test_a_wrong_result_names_the_tool(mini, file, tool, message):
    env = playing(mini, "sv:1", tools=[tool])
    with pytest.raises(DataError, match=message):
        env.step(call(tool))


def test_a_ranking_keeps_what_any_tool_showed(mini, tmp_path, file):
    class Looks(Researcher):
        def discover(self, desk):
            yield from desk.call("titles")
            desk.ranking = ["p:leap", "p:same"]

    made = tmp_path / "run"
    run(mini, EnvConfig(task="discovery", tools=["titles"]), Looks, made, topics=["sv:1"])
    (line,) = (made / "trajectories.jsonl").read_text().splitlines()
    assert json.loads(line)["answers"] == {"discovery": ["p:leap"]}


def test_a_reader_that_returns_nothing(tmp_path, capsys):
    from corpus_builder.cli import main as corpus_main

    (tmp_path / "mine.py").write_text(
        "from corpus_builder.readers import reader\n"
        "@reader('cards', recognises=lambda head: head.startswith('CARDS'))\n"
        "def cards(file):\n    'Cards.'\n"
    )
    (tmp_path / "a.cards").write_text("CARDS\n")
    words = ["--papers", str(tmp_path / "a.cards"), "--output", str(tmp_path / "out")]
    assert corpus_main(["build", "library", *words, "--plugin", str(tmp_path / "mine.py")]) == 2
    assert (
        "the reader cards returned None. It must return pairs of line and record"
        in capsys.readouterr().err
    )


def test_a_variable_that_names_no_file(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("ARENA_PLUGINS", str(tmp_path / "absent.py"))
    assert main(["list", "metrics"]) == 2
    assert "ARENA_PLUGINS names a plug-in that fails: there is no file" in capsys.readouterr().err
    monkeypatch.setattr(plugins, "_broken", {})
    monkeypatch.setattr(plugins, "_warned", set())
    monkeypatch.setattr(plugins, "listing", False)
    assert main(["plugins", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["plugins"]
    assert [row["error"] for row in rows if row["origin"] == "absent.py"] == [
        f"there is no file {str(tmp_path / 'absent.py')!r}."
    ]


def test_names_that_are_not_loaded(mini, capsys):
    words = ["run", "--corpus", str(mini), "--task", "discovery", "--agent", "title"]
    assert main([*words, "--metric", "zzzzzz", "--output", "no-run"]) == 2
    assert "name that with --plugin FILE.py" in capsys.readouterr().err
    assert main(["audit", "arena/Naming-v0", "--corpus", str(mini)]) == 2
    error = capsys.readouterr().err
    assert "there is no environment 'arena/Naming-v0'" in error and "--plugin FILE.py" in error
    assert main(["list", "metric", "--json"]) == 0
    singular = capsys.readouterr().out
    assert main(["list", "metrics", "--json"]) == 0
    assert capsys.readouterr().out == singular
