"""``arena compare``: what it prints, refuses and writes, and that it is the same every time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from compare_helpers import TwoSearches

import arena
import arena.cli
from arena.results.comparison import as_json, as_latex, as_markdown, as_text


@pytest.fixture(scope="module")
def runs(world, title_run, tmp_path_factory):
    directory = tmp_path_factory.mktemp("compared")
    arena.run(world, "discovery", "random", directory / "random")
    arena.run(world, "discovery", TwoSearches, directory / "two")
    return [str(title_run), str(directory / "random"), str(directory / "two")]


def run(*arguments):
    return arena.cli.main(["compare", *map(str, arguments)])


def test_each_format_is_that_of_python(runs, capsys):
    found = arena.compare(runs, "random, bm25", ["recall@10"], test="student")
    options = ["--baseline", "random, bm25", "--metric", "recall@10", "--test", "student"]
    for flags, expected in (
        ([], as_text(found)),
        (["--format", "markdown"], as_markdown(found)),
        (["--format", "latex"], as_latex(found)),
    ):
        assert run(*runs, *options, *flags) == 0
        assert capsys.readouterr().out == expected
    for flags in (["--json"], ["--format", "json"]):
        assert run(*runs, *options, *flags) == 0
        assert json.loads(capsys.readouterr().out) == as_json(found)


def test_the_table_for_a_terminal(runs, capsys):
    assert run(*runs) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0].startswith("title, bm25 has a better mean recall@100 than ")
    assert lines[2] == "Mean scores of the task discovery"
    summary = json.loads((Path(runs[0]) / "metrics.json").read_text())
    (row,) = [line for line in lines[2:8] if line.startswith("title, bm25")]
    found = arena.compare(runs)
    assert row.split()[2:] == [f"{summary['mean'][m.metric]:.4f}" for m in found.metrics]
    assert "title, bm25 (baseline)" in out and "corrected by Holm" in out
    assert lines[-1].startswith("Differences from title, bm25")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["{0}", "{0}"], "is given twice"),
        (["{0}", "/nowhere"], "'/nowhere' does not exist"),
        (["{0}", "{1}", "--baseline", "titel"], "Did you mean 'title, bm25'"),
        (["{0}", "--metric", "recal@10"], "Did you mean 'recall@10'"),
        (["{0}", "--level", "2"], "level=2.0: give a number between 0 and 1"),
        (["{0}", "--test", "t"], "no test named 't'"),
        (["{0}", "--corpus", "x"], "name the page with --html"),
        (["{0}", "--json", "--format", "latex"], "contradict each other"),
        (["{0}", "--html", "/nowhere/page.html"], "there is no directory '/nowhere'"),
        (["{0}", "--html", "x.html", "--corpus", "/nowhere"], "/nowhere"),
    ],
)
def test_mistakes_are_told_in_one_line(runs, arguments, told, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(*(argument.format(*runs) for argument in arguments)) == 2
    captured = capsys.readouterr()
    assert not captured.out
    assert captured.err.count("\n") == 1 and captured.err.startswith("arena: error: ")
    assert told in captured.err
    assert not list(tmp_path.iterdir())


def test_processes_agree_to_the_byte(runs, world, tmp_path):
    written = []
    for seed, threads in (("0", "1"), ("1", "2")):
        folder = tmp_path / seed
        folder.mkdir()
        environment = os.environ | {"PYTHONHASHSEED": seed, "OPENBLAS_NUM_THREADS": threads}
        done = subprocess.run(
            [
                sys.executable, "-m", "arena", "compare", *runs, "--json", "--html",
                "page.html", "--corpus", str(world),
            ],
            cwd=folder, env=environment, capture_output=True, check=True,
        )  # fmt: skip
        assert not done.stderr
        written.append((done.stdout, (folder / "page.html").read_bytes()))
    assert written[0] == written[1]
    assert str(tmp_path).encode() not in written[0][1]
