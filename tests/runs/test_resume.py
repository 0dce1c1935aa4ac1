"""Runs that are killed, interrupted or fail continue to the same files, and change no others."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time

import pytest
from helpers import RUN_FILES, contents

import arena
from arena.errors import ArenaError, CorpusError
from corpus_builder.manifest import verify


@pytest.mark.parametrize(
    "cut", [0, 1, -1, -40, "half a line", "junk", "a field is missing", "an id stands twice"]
)
def test_a_run_cut_off_anywhere_goes_on_to_the_same_files(synthetic, title_run, tmp_path, cut):
    """A kill leaves a manifest, some lines, perhaps part of one, and no result files."""
    output = tmp_path / "run"
    arena.run(synthetic, "discovery", "title", output)
    path = output / "trajectories.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    kept = b"".join(lines[:3])
    path.write_bytes(
        {
            "half a line": kept + lines[3][:50],
            "junk": kept + b"{]\n",
            "a field is missing": kept + lines[3].replace(b'"answers"', b'"answrs"'),
            "an id stands twice": kept
            + lines[3].replace(b'{"discovery":[', b'{"discovery":["x","x",'),
        }.get(str(cut), path.read_bytes()[: cut if isinstance(cut, int) else 0])
    )
    for name in ("run.trec", "qrels.trec", "metrics.json"):
        (output / name).unlink()
    manifest = json.loads((output / "manifest.json").read_text())
    del manifest["files"]
    (output / "manifest.json").write_text(json.dumps(manifest))
    arena.run(synthetic, "discovery", "title", output)
    assert contents(output) == contents(title_run)


SLOW = """
import sys, time
import arena
from arena.agents import AGENTS
Title = AGENTS.get("title")
act = Title.act
def slowly(self, observation):
    time.sleep(0.1)
    return act(self, observation)
Title.act = slowly
arena.run(sys.argv[1], "discovery", "title", sys.argv[2])
"""


@pytest.mark.slow
def test_a_killed_process(synthetic, title_run, tmp_path):
    """One run meets both: a kill as it begins, and Ctrl-C as it continues."""
    output = tmp_path / "run"
    command = [sys.executable, "-c", SLOW, str(synthetic), str(output)]
    for kind in (signal.SIGKILL, signal.SIGINT):
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + 60
            path = output / "trajectories.jsonl"
            size = path.stat().st_size if path.exists() else 0
            while not (path.exists() and path.stat().st_size > size):
                assert time.monotonic() < deadline
                assert process.poll() is None
                time.sleep(0.01)
            process.send_signal(kind)
    assert 1 <= len(path.read_bytes().splitlines()) < 8
    assert not (output / "metrics.json").exists()
    report = arena.verify(output, synthetic)
    assert report.difference is None
    assert report.episodes == path.read_bytes().count(b"\n")
    assert f"The run has {report.episodes} of its 8 episodes." in report.reasons
    arena.run(synthetic, "discovery", "title", output)
    assert contents(output) == contents(title_run)


def test_another_run_is_not_overwritten(synthetic, title_run, tmp_path):
    output = tmp_path / "run"
    arena.run(synthetic, "discovery", "title", output, topics=2)
    before = contents(output)
    with pytest.raises(CorpusError, match=r"differs in agent"):
        arena.run(synthetic, "discovery", "random", output, topics=2)
    with pytest.raises(CorpusError, match="differs in topics"):
        arena.run(synthetic, "discovery", "title", output)
    assert contents(output) == before
    (output / "judgements").mkdir()
    (output / "judgements" / "taxobench.json").write_text("{}")  # of the run that goes
    arena.run(synthetic, "discovery", "title", output, overwrite=True)
    assert not (output / "judgements" / "taxobench.json").exists()
    assert contents(output) == contents(title_run)


def test_a_directory_of_something_else_is_left_alone(synthetic, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(CorpusError, match="contains other files"):
        arena.run(synthetic, "discovery", "title", tmp_path, overwrite=True)
    with pytest.raises(CorpusError, match="is a file"):
        arena.run(synthetic, "discovery", "title", tmp_path / "thesis.tex")
    assert contents(tmp_path) == {"thesis.tex": b"years of work"}


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_corpus_is_left_alone(mini, tmp_path, overwrite):
    """A corpus has a manifest.json, too."""
    corpus = tmp_path / "corpus"
    shutil.copytree(mini, corpus)
    with pytest.raises(CorpusError, match="contains other files and no run"):
        arena.run(mini, "discovery", "title", corpus, overwrite=overwrite)
    assert not verify(corpus)["problems"]


def test_leftovers_of_a_kill_are_cleared(synthetic, title_run, tmp_path):
    from arena.kit.files import TEMPORARY_SUFFIX

    output = tmp_path / "run"
    output.mkdir()
    (output / f".0123{TEMPORARY_SUFFIX}").write_text("half a manif")
    (output / ".lock").write_text("")
    arena.run(synthetic, "discovery", "title", output)
    assert contents(output) == contents(title_run)
    # --overwrite, killed after the results are gone and before the manifest is
    for name in RUN_FILES - {"manifest.json"}:
        (output / name).unlink()
    (output / f".4567{TEMPORARY_SUFFIX}").write_text("half a line")
    arena.run(synthetic, "discovery", "title", output)
    assert contents(output) == contents(title_run)


def test_two_processes_do_not_write_one_run(synthetic, tmp_path):
    from arena.kit.workdir import exclusive_lock

    output = tmp_path / "run"
    output.mkdir()
    with (
        exclusive_lock(output / ".lock", output),
        pytest.raises(ArenaError, match="another process is writing"),
    ):
        arena.run(synthetic, "discovery", "title", output)
    arena.run(synthetic, "discovery", "title", output, topics=1)


def test_a_changed_episode_of_a_finished_run_is_not_signed_again(synthetic, tmp_path):
    output = tmp_path / "run"
    arena.run(synthetic, "discovery", "title", output)
    path = output / "trajectories.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"truncated":false', b'"truncated":true ', 1))
    before = contents(output)
    with pytest.raises(CorpusError, match="is not as the run left it"):
        arena.run(synthetic, "discovery", "title", output)
    assert contents(output) == before
    path.write_bytes(whole[:-40])  # cut off, not changed: it is played again
    arena.run(synthetic, "discovery", "title", output)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("change", ["junk", "gone"])
def test_a_broken_line_does_not_cost_the_episodes_after_it(synthetic, tmp_path, change):
    output = tmp_path / "run"
    arena.run(synthetic, "discovery", "title", output)
    manifest = json.loads((output / "manifest.json").read_text())
    del manifest["files"]  # as a kill leaves it
    (output / "manifest.json").write_text(json.dumps(manifest))
    path = output / "trajectories.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2:3] = [b"garbage\n"] if change == "junk" else []
    path.write_bytes(b"".join(lines))
    with pytest.raises(CorpusError, match="line 3 is not as the run wrote it"):
        arena.run(synthetic, "discovery", "title", output)
    assert path.read_bytes() == b"".join(lines)
    arena.run(synthetic, "discovery", "title", output, overwrite=True)
