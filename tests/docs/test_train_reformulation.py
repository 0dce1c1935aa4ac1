"""The example that trains: its parts by hand, and the whole in small."""

from __future__ import annotations

import ast
import doctest
import json
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import arena
import arena.cli

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "examples" / "train_reformulation.py"
AGENT = ROOT / "examples" / "reformulation" / "agent.py"
sys.path.insert(0, str(SCRIPT.parent))

pytest.importorskip("torch", reason="training needs the extra dev")

import torch  # noqa: E402
import train_reformulation  # noqa: E402
from reformulation import agent, learning  # noqa: E402
from reformulation.agent import FEATURES, Choice, Memory, Reformulation  # noqa: E402


def paper(name, title=""):
    return {"id": name, "title": title or name, "date": "2010-01-01"}


@pytest.mark.parametrize("module", [agent, learning, train_reformulation])
def test_the_examples_in_docstrings(module):
    assert not doctest.testmod(module).failed


def test_hits_are_fused_by_place_and_by_agreement():
    memory = Memory()
    memory.add_search("topic", [paper("a"), paper("b"), paper("c")])
    assert memory.scores() == pytest.approx([2.0, 2 * 20 / 21, 2 * 20 / 22])
    # One of the two best hits ranks high already, so the query counts half of 2.
    memory.add_search("query", [paper("b"), paper("d")])
    assert memory.scores() == pytest.approx([2.0, 2 * 20 / 21 + 1, 2 * 20 / 22, 20 / 21])
    # d is cited by two of the papers looked at, the most of all, and counts 2 more; e half.
    memory.add_references([paper("d"), paper("e")])
    memory.add_references([paper("d")])
    assert memory.scores() == pytest.approx([2.0, 2 * 20 / 21 + 1, 2 * 20 / 22, 20 / 21 + 2, 1.0])
    assert memory.ranking() == ["d", "b", "a", "c", "e"]


def test_a_policy_gives_the_probabilities_that_torch_gives():
    torch.manual_seed(3)
    learner = learning.Learner(hidden=8)
    features = np.random.default_rng(3).normal(size=(5, len(FEATURES))).astype(np.float32)
    with torch.no_grad():
        expected = torch.log_softmax(learner(torch.from_numpy(features)), dim=0).numpy()
    assert learner.policy().log_probabilities(features) == pytest.approx(expected, abs=1e-5)


def test_an_update_makes_what_gained_more_likely():
    settings = learning.Knobs(hidden=8)
    torch.manual_seed(0)
    learner = learning.Learner(settings.hidden)
    optimizer = torch.optim.Adam(learner.parameters(), settings.learning_rate)
    rng = np.random.default_rng(0)
    features = [rng.normal(size=(n, len(FEATURES))).astype(np.float32) for n in (4, 7)]
    before = [learner.policy().log_probabilities(rows) for rows in features]
    choices = [Choice(r, 2, float(logs[2])) for r, logs in zip(features, before, strict=True)]
    learning.update(learner, optimizer, choices, np.array([1.0, -1.0]), settings)
    after = [learner.policy().log_probabilities(rows) for rows in features]
    assert after[0][2] > before[0][2]
    assert after[1][2] < before[1][2]


def test_rewards_are_credited_to_the_choice_before_them(world):
    """What a choice is credited with is what the environment paid from it to the end."""
    import gymnasium

    policy = learning.Learner(8).policy()
    with closing(
        gymnasium.make_vec(
            learning.ENVIRONMENT, num_envs=3, corpus=str(world), reward=learning.REWARD
        )
    ) as env:
        episodes = learning.play(env, policy, [5, 5, 6], agent_seed=40)
    assert len(episodes) == 3
    for number, (seed, episode) in enumerate(zip([5, 5, 6], episodes, strict=True)):
        with gymnasium.make(
            learning.ENVIRONMENT, corpus=str(world), reward=learning.REWARD
        ) as scalar:
            player = Reformulation(seed=40 + number, policy=policy, explore=True)
            observation, _ = scalar.reset(seed=seed)
            paid, over = [], False
            while not over:
                act = player.act(observation)
                observation, reward, terminated, truncated, info = scalar.step(act)
                paid.append((len(player.choices), reward))
                over = terminated or truncated
        assert len(episode.returns) == len(player.choices) == agent.SEARCHES
        for place, value in enumerate(episode.returns):
            assert value == pytest.approx(sum(r for made, r in paid if made > place))
        assert value >= info["metrics"]["recall@100"]


@pytest.mark.parametrize(
    "budget", [{}, {"max_searches": 0}, {"max_searches": 2}, {"max_steps": 1}, {"max_steps": 3},
               {"max_reads": 0}, {"max_reads": 5}],
)  # fmt: skip
def test_the_agent_keeps_to_its_budget_and_hands_in(world, tmp_path, budget):
    summary = arena.run(world, "discovery", Reformulation, tmp_path / "run", **budget, surveys=2)
    for entry in summary["per_survey"].values():
        assert not entry["truncated"]
        assert entry["searches"] <= budget.get("max_searches", agent.SEARCHES + 1)
    if budget in ({}, {"max_reads": 0}):
        assert summary["mean"]["recall@100"] > 0
        assert all(e["searches"] == agent.SEARCHES + 1 for e in summary["per_survey"].values())


def test_the_agent_knows_nothing_but_observations():
    """It imports no corpus, no task and no environment."""
    modules = [
        node.module
        for node in ast.walk(ast.parse(AGENT.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
    ]
    assert {m for m in modules if m.startswith(("arena", "corpus", "reform"))} == {
        "arena.agents", "arena.errors", "arena.text",
    }  # fmt: skip


def test_the_paired_test_by_hand():
    """All of n pairs better: two of the 2^n equally likely signs are as extreme."""
    ours = {str(n): 0.1 * n + 0.1 + 0.01 * n for n in range(5)}
    theirs = {str(n): 0.1 * n for n in range(5)}
    test = train_reformulation.paired(ours, theirs)
    assert test == {
        "n": 5, "better": 5, "worse": 0, "mean_difference": pytest.approx(0.12), "p": 2 / 2**5,
    }  # fmt: skip
    assert train_reformulation.paired(ours, ours)["p"] == 1.0
    assert train_reformulation.mean_over([{"a": 0.0, "b": 1.0}, {"a": 0.5, "b": 1.0}]) == {
        "a": 0.25,
        "b": 1.0,
    }


def start(output, *options):
    return subprocess.Popen(
        [sys.executable, str(SCRIPT), "--output", str(output), "--quick", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """What a small run wrote, and what it printed."""
    output = tmp_path_factory.mktemp("trained") / "out"
    process = start(output, "--seeds", "2")
    printed, error = process.communicate(timeout=600)
    assert process.returncode == 0, error
    assert "trained against title" in printed
    return output, json.loads((output / "results.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_a_run_writes_results_weights_and_a_picture(trained):
    output, printed = trained
    assert {path.name for path in output.iterdir()} == {
        "learning_curve.svg", "results.json", "weights-0.npz", "weights-1.npz", "worlds",
    }  # fmt: skip
    mean = printed["tests"]["unseen worlds"]["mean"]
    assert mean["oracle"] == 1.0
    assert np.mean(printed["tests"]["unseen worlds"]["by_seed"]) == pytest.approx(mean["trained"])
    for curve in printed["curves"].values():
        assert [episodes for episodes, _ in curve] == [0, 32, 64]
    # The last point of the curve is the agent that was saved.
    last = [curve[-1][1] for curve in printed["curves"].values()]
    assert last == pytest.approx(printed["tests"]["unseen worlds"]["by_seed"])
    picture = (output / "learning_curve.svg").read_text(encoding="utf-8")
    for label in ("seed 0", "seed 1", "title 0.", "random 0.", "oracle 1.000", "episodes"):
        assert label in picture


@pytest.mark.slow
def test_papers_in_place_of_surveys(trained, tmp_path):
    output, printed = trained
    shutil.copytree(output / "worlds", tmp_path / "out" / "worlds")  # they are there already
    process = start(tmp_path / "out", "--seeds", "1", "--tasks", "papers", "--beside", str(output))
    _, error = process.communicate(timeout=600)
    assert process.returncode == 0, error
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    test = results["tests"]["unseen worlds"]
    beside = test["trained_against"]["trained on surveys"]
    theirs = printed["tests"]["unseen worlds"]
    assert test["mean"]["oracle"] == theirs["mean"]["oracle"]  # the same surveys
    difference = test["mean"]["trained"] - theirs["mean"]["trained"]
    assert beside["mean_difference"] == pytest.approx(difference)
    worlds = {path.name for path in (tmp_path / "out" / "worlds").iterdir()}
    assert {"1001-300-tasks", "1002-300-tasks"} < worlds


def test_saved_weights_play_on_the_command_line(world, tmp_path, capsys):
    corpus = arena.Corpus.open(world)
    scale = train_reformulation.QUICK._replace(episodes=32, points=1)
    _, curve = train_reformulation._train(tmp_path, [corpus], [corpus], scale, 1)
    assert [episodes for episodes, _ in curve] == [0, 32]
    arguments = ["run", "--corpus", str(world), "--task", "discovery", "--json",
                 "--agent", f"{AGENT}:Reformulation", "--output", str(tmp_path / "run"),
                 "--agent-option", f"weights={tmp_path / 'weights-1.npz'}"]  # fmt: skip
    assert arena.cli.main(arguments) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["mean"]["recall@100"] == pytest.approx(curve[-1][1])
