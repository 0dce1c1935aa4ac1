"""``arena compare``: what it prints, refuses and writes, and that it is the same every time."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys

import pytest
from compare_helpers import TwoSearches

import arena
import arena.cli
from arena.results.comparison.clusters import in_clusters
from arena.tasks import TaskSet


@pytest.fixture(scope="module")
def runs(synthetic, title_run, tmp_path_factory):
    directory = tmp_path_factory.mktemp("compared")
    arena.run(synthetic, "discovery", "random", directory / "random")
    arena.run(synthetic, "discovery", TwoSearches, directory / "two")
    return [str(title_run), str(directory / "random"), str(directory / "two")]


def run(*arguments):
    return arena.cli.main(["compare", *map(str, arguments)])


def test_no_cell_of_a_csv_is_a_formula(runs, capsys):
    named = [f"@one={runs[0]}", f"+2={runs[1]}", f"it-s={runs[2]}"]
    assert run(*named, "--metric", "recall@10", "--format", "csv") == 0
    rows = list(csv.reader(capsys.readouterr().out.splitlines()))
    assert list(dict.fromkeys(row[1] for row in rows[1:])) == ["'@one", "'+2", "it-s"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{0}", "/nowhere"], "'/nowhere' contains no run (it does not exist)"),
        (["A={0}, ,/nowhere,"], "'/nowhere' contains no run (it does not exist)"),
        (["{0}", "{1}", "--baseline", "titel"], "Did you mean 'title, bm25'"),
        (["{0}", "--clusters", "domain"], "no topic of these runs has a domain"),
        (["{0}", "--json", "--format", "latex"], "contradict each other"),
        (["{0}", "--model-cutoff", "2020"], "--model-cutoff needs the --corpus"),
    ],
)
def test_a_mistake_is_one_line(runs, synthetic, arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(*(argument.format(*runs, synthetic=synthetic) for argument in arguments)) == 2
    captured = capsys.readouterr()
    assert not captured.out
    assert captured.err.count("\n") == 1 and captured.err.startswith("arena: error: ")
    assert message in captured.err
    assert not list(tmp_path.iterdir())


def test_topics_before_and_after_the_cutoff_of_a_model(runs, synthetic, capsys):
    dates = {name: topic.date for name, topic in TaskSet(synthetic).topics.items()}
    day = sorted(dates.values())[3]  # three of the eight are earlier
    options = ["--model-cutoff", day, "--corpus", str(synthetic)]
    assert run(*runs, *options) == 0
    text = capsys.readouterr().out
    assert run(*runs, *options, "--json") == 0
    found = json.loads(capsys.readouterr().out)
    values = found["metrics"][found["headline"]]["per_topic"]
    for words, number, kept in (
        (f"dated before {day}", 3, [v for s, v in values.items() if dates[s] < day]),
        (f"dated {day} or later", 5, [v for s, v in values.items() if dates[s] >= day]),
    ):
        part = found["parts"][words]
        over = in_clusters(number, part["clusters"])
        assert f"{found['headline']} over {over} {words}\n" in text
        assert part["topics"] == len(kept) == number and part["ceiling"] is None
        for name, mean in part["means"].items():
            assert mean["mean"] == pytest.approx(sum(row[name] for row in kept) / number)


def test_processes_agree_to_the_byte(runs, synthetic, tmp_path):
    written = []
    for seed, threads in (("0", "1"), ("1", "2")):
        folder = tmp_path / seed
        folder.mkdir()
        environment = os.environ | {"PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": threads}
        done = subprocess.run(
            [
                sys.executable, "-m", "arena", "compare", *runs, "--json", "--html",
                "page.html", "--corpus", str(synthetic),
            ],
            cwd=folder, env=environment, capture_output=True, check=True,
        )  # fmt: skip
        assert not done.stderr
        written.append((done.stdout, (folder / "page.html").read_bytes()))
    assert written[0] == written[1]
    assert str(tmp_path).encode() not in written[0][1]
