"""Builds of a release in several processes, killed at random moments; files that a kill leaves."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from helpers import MAIN, contents
from kills import kill_when

from benchmarks import simulate
from corpus_builder.release import Release
from corpus_builder.sources import SOURCES
from corpus_builder.world import WorldConfig


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("killed") / "release"
    world = WorldConfig(papers=300, surveys=6)
    simulate.measure(world=world, output=str(directory), shards=4)
    return directory


def start(release: Path, output: Path, workers: int) -> subprocess.Popen[str]:
    words = ["build", "s2orc", "--input", release, "--output", output, "--workers", workers,
             "--set", "full_text_only=false", "--set", "surveys.judge=all"]  # fmt: skip
    command = [sys.executable, "-c", MAIN, *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="children end with their parent on Linux")
def test_kills_change_nothing(tmp_path: Path, release: Path) -> None:
    begun = time.monotonic()
    whole = start(release, tmp_path / "whole", 2)
    assert whole.communicate()[1] == "" and whole.returncode == 0
    span, moments, killed = time.monotonic() - begun, random.Random(1), 0
    for _ in range(5):
        process = start(release, tmp_path / "killed", 3)
        time.sleep(moments.uniform(0.2, 0.7) * span)
        children = psutil.Process(process.pid).children() if process.poll() is None else []
        killed += kill_when(process, lambda: True)
        _, alive = psutil.wait_procs(children, timeout=30)
        assert not alive, "a child outlives the process that started it"
    assert killed >= 3
    last = start(release, tmp_path / "killed", 3)
    assert last.communicate()[1] == "" and last.returncode == 0
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_a_leftover_in_a_release_is_no_shard(tmp_path: Path, release: Path) -> None:
    kind = SOURCES.get("s2orc")
    assert issubclass(kind, Release)
    before = kind(input=release).shards()  # type: ignore[call-arg]
    left = [release / ".0123.atomic-write.tmp", release / "papers/.0123.atomic-write.tmp"]
    for path in left:
        path.write_text("{")
    assert kind(input=release).shards() == before  # type: ignore[call-arg]
    for path in left:
        path.unlink()
