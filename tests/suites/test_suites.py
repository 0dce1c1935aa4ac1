"""Every suite names parts that the gym has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import arena
from arena import cli
from arena.results.experiments import read_experiment
from arena.suites import SUITES
from corpus_builder.sources import SOURCES


@pytest.mark.parametrize("name", SUITES.names())
def test_a_suite_has_a_source_and_an_experiment_of_its_name(name):
    assert name in SOURCES.names()
    assert read_experiment(name).name == name


def test_the_list_of_suites(capsys):
    assert cli.main(["list", "suites"]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in SUITES.names())


PLAY = """
import sys

import arena
from arena import cli
from arena.suites import SUITES
from arena.metrics import METRICS
from arena.tasks import TASKS

corpus, output = sys.argv[1:]
assert SUITES.names() == [] and "ndcg" in METRICS.names()
assert not [name for name in METRICS.names() if METRICS.get(name).kind == "survey"]
for kind in ("metrics", "suites", "rubrics", "tasks"):
    assert cli.main(["list", kind]) == 0
for task in TASKS.names():
    runs = [f"{output}/{task}/{agent}" for agent in ("random", "oracle")]
    for run in runs:
        agent = run.rpartition("/")[2] if task != "report" or "oracle" in run else "title"
        arena.run(corpus, task, agent, run, surveys=2)
        assert arena.rescore(run, corpus)["mean"]
    assert arena.compare(runs)
"""


def test_everything_else_works_without_the_suites(world, tmp_path):
    """A package without any suite plays, scores and compares all tasks."""
    root, place = Path(arena.__file__).parents[1], tmp_path / "without"
    (place / "arena" / "suites").mkdir(parents=True)
    found = [root / "baselines", root / "corpus_builder", *(root / "arena").iterdir()]
    found += [root / "arena" / "suites" / "__init__.py"]
    for path in found:
        if path.name not in ("suites", "__pycache__"):
            (place / path.relative_to(root)).symlink_to(path)
    command = [sys.executable, "-c", PLAY, str(world), str(tmp_path / "runs")]
    environment = os.environ | {"PYTHONPATH": str(place)}
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
