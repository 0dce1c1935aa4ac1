"""The leaderboard: rows for what is verified, reasons for the rest, and no labels."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from helpers import call, contents

import arena
from arena.agents import Agent
from arena.cli import main
from arena.errors import CorpusError, DataError
from arena.results.viewing.board import write_board

WORKFLOW = Path(__file__).resolve().parents[2] / "examples" / "leaderboard.yml"
HOSTILE = "<script>alert(1)</script>"


class Wonder(Agent):
    """Submits labels that stand in its code."""

    def act(self, observation):
        return call("submit", paper_ids=["p2", "p3", "p4"])


@pytest.fixture(scope="module")
def sent(tiny, tmp_path_factory):
    """Submissions: two honest ones, one of them packed, a flagged, an edited, a partial one."""
    folder = tmp_path_factory.mktemp("sent")
    arena.run(tiny, "discovery", "title", folder / "honest")
    (folder / "honest" / "claims.json").write_text(json.dumps({"model": HOSTILE}))
    shutil.make_archive(str(folder / "packed"), "gztar", folder, "honest")
    arena.run(tiny, "discovery", Wonder, folder / "wonder")
    shutil.copytree(folder / "wonder", folder / "timed")
    (folder / "timed" / "timing.json").write_text("[]")
    arena.run(tiny, "discovery", "title", folder / "part", topics=["s1"])
    arena.run(tiny, "discovery", "scout", folder / "short", max_steps=3)
    edited = shutil.copytree(folder / "honest", folder / "edited")
    lines = (edited / "trajectories.jsonl").read_text().replace('"reward":0.0', '"reward":1.0')
    (edited / "trajectories.jsonl").write_text(lines)
    return folder


@pytest.fixture(scope="module")
def site(sent, tiny, tmp_path_factory):
    output = tmp_path_factory.mktemp("site") / "site"
    names = ("honest", "timed", "wonder", "part", "short", "edited", "gone")
    given = [f"{HOSTILE}={sent / 'packed.tar.gz'}", *(str(sent / name) for name in names)]
    options = ["--corpus", str(tiny), "--output", str(output), "--baselines", "random,title,scout"]
    assert main(["board", *given, *options]) == 0
    return output


def test_rows_and_reasons(site, tiny, capsys):
    command = ["board", "--corpus", str(tiny), "--output", "x", "--baselines", "titel"]
    assert main([*command, "--task", "discovery"]) == 2
    assert "Did you mean 'title'" in capsys.readouterr().err
    results = json.loads((site / "results.json").read_text())
    discovery, short = results["tracks"].values()
    assert [*discovery["runs"]][-3:] == ["wonder", HOSTILE, "honest"]
    assert discovery["runs"]["wonder"]["flagged"].startswith("100% of the submitted ids")
    assert discovery["runs"]["honest"]["claims"]["model"] == HOSTILE
    assert discovery["runs"]["title, bm25"]["baseline"]
    assert discovery["baseline"] == "scout, bm25"
    recall = discovery["metrics"]["recall@100"]
    assert (recall["means"]["honest"]["mean"], recall["ceiling"]) == (pytest.approx(2 / 3), 1.0)
    assert ([*recall["per_topic"]], recall["not_scored"]) == (["s1"], ["s2"])
    assert short["runs"]["short"]["budget"]["max_steps"] == 3
    assert short["runs"]["title, bm25"]["budget"]["max_steps"] == 3
    assert {name: reason.split(":")[0] for name, reason in results["apart"].items()} == {
        "part": "1 of 2 topics were not played.",
        "timed": "'timed/timing.json' has no number of seconds. Delete it.",
        "edited": "topic 's2', step 1 (action {\"tool\"",
        "gone": "'gone' contains no run (it does not exist). Name the --output of an `arena run`, "
        "or a folder in the runs/ of an experiment.",
    }


def test_pages_are_whole_escaped_and_without_labels(site, sent):
    pages = {path.relative_to(site).as_posix(): path.read_text() for path in site.rglob("*.html")}
    assert HOSTILE in json.loads((site / "results.json").read_text())["tracks"]["discovery"]["runs"]
    for name, page in pages.items():
        assert HOSTILE not in page
        assert not re.search(r"""(src|href)=["'](https?:)?//""", page)
        assert "This page shows the labels" not in page
        for link in re.findall(r'href="([^"#]+\.(?:html|json))', page):
            assert (site / name).parent.joinpath(link).is_file(), link
    assert "Flagged: 100% of the submitted ids" in pages["discovery/recall@100.html"]
    assert "&lt;script&gt;" in pages["discovery/recall@100.html"]
    assert "Set apart" in pages["index.html"]


def test_a_board_is_replaced_by_the_same_bytes_and_nothing_else_is(site, sent, tiny, tmp_path):
    shutil.copytree(site, tmp_path / "site")
    with pytest.raises(DataError, match=r"two submissions are called 'honest'\. Name them: NAME="):
        write_board([sent / "honest", f"honest={sent / 'part'}"], tiny, tmp_path / "site")
    with pytest.raises(DataError, match=r"no submission has a row; --task names .* edited: top"):
        write_board([sent / "edited"], tiny, tmp_path / "site")
    with pytest.raises(DataError, match=r"'.*honest' is given twice"):
        write_board([sent / "honest", f"b={sent / 'honest'}"], tiny, tmp_path / "site")
    assert contents(tmp_path / "site") == contents(site)
    for output in "ab":
        write_board([], tiny, tmp_path / output, played=["organization"])
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    (tmp_path / "b" / "CNAME").touch()
    for output in (sent / "honest", tmp_path / "b", WORKFLOW):
        with pytest.raises(CorpusError, match="exists and is no board, or has other files"):
            write_board([], tiny, output, played=["organization"])


@pytest.mark.slow
def test_the_commands_of_the_workflow(sent, tmp_path):
    """All but the installation, in an empty folder, with the submissions of a repository."""
    shutil.copytree(sent, tmp_path / "submissions")
    command = f'exec {shlex.quote(sys.executable)} -m "$NAME" "$@"\n'
    for name, module in (("arena", "arena"), ("arena-corpus", "corpus_builder.cli")):
        (tmp_path / name).write_text("#!/bin/sh\n" + command.replace("$NAME", module))
        (tmp_path / name).chmod(0o755)
    steps = [step["run"] for step in yaml.safe_load(WORKFLOW.read_text())["jobs"]["board"]["steps"]
             if "run" in step]  # fmt: skip
    assert steps[0] == "pip install researcharena"
    for step in steps[1:]:
        environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
        subprocess.run(step, shell=True, check=True, cwd=tmp_path, env=environment)
    results = json.loads((tmp_path / "site" / "results.json").read_text())
    assert {"packed", "wonder"} <= results["tracks"]["discovery"]["runs"].keys()
