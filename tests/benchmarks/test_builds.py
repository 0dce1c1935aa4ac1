"""A release built in processes of its own, killed at any moment and started again."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import builds
from benchmarks.builds import (
    Command,
    Moment,
    StageTime,
    Watched,
    build_killed,
    build_once,
    differences,
    moments,
    summary,
)
from benchmarks.simulate import ReleaseSettings, simulate
from corpus_builder.verify import verify
from corpus_builder.world import WorldConfig

pytestmark = [
    pytest.mark.slow,  # kills
    pytest.mark.skipif(sys.platform != "linux", reason="watches sessions and PSS"),
]

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = ("--set", "full_text_only=false", "--set", "surveys.judge=all")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("kills") / "release"
    simulate(WorldConfig(papers=3000, surveys=40), directory, ReleaseSettings(shards=6))
    return directory


def test_kills_change_nothing(tmp_path: Path, release: Path) -> None:
    whole = Command(release, tmp_path / "whole", "2GB", 2, OPTIONS)
    built = build_once(whole)
    assert (built.status, built.error) == (0, "")
    told = summary(whole, built)
    assert told["documents"] == 3000
    assert [stage["name"] for stage in told["stages"]] == [
        "parse", "surveys", "references", "mind-maps", "index", "card",
    ]  # fmt: skip
    assert set(told["manifest"]) >= {"content_sha256", "tasks_sha256", "manifest_sha256"}

    broken = Command(release, tmp_path / "killed", "3GB", 3, OPTIONS)
    again, kills = build_killed(broken, moments(built.watched.stages, 12, seed=1))
    assert again.status == 0
    assert len(kills) >= 9  # some come after the end: what is done before a kill stays done
    assert any(kill.alone and kill.processes > 1 for kill in kills)
    assert len({kill.stage for kill in kills}) > 2
    assert differences(built, again) == []
    assert verify(tmp_path / "killed")["problems"] == {}


def test_a_build_that_fails_is_told(tmp_path: Path, release: Path) -> None:
    options = (*OPTIONS, "--set", "surveys.title=no title has this")
    command = Command(release, tmp_path / "c", "2GB", 1, options)
    built = build_once(command)
    assert built.status == 2 and "survey" in built.error
    told = summary(command, built)
    assert told["documents"] == 3000 and told["manifest"] == {}
    assert told["stages"][0]["name"] == "parse"


def test_the_script(tmp_path: Path) -> None:
    options = ["--papers", "300", "--surveys", "9", "--shards", "2", "--kills", "2", "--seed", "5",
               "--workers", "2"]  # fmt: skip
    command = [sys.executable, "-m", "benchmarks", "build", *options,
               "--output", str(tmp_path / "m"), "--json", str(tmp_path / "m.json"),
               "--option=--set", "--option=full_text_only=false"]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    told = json.loads((tmp_path / "m.json").read_bytes())
    assert told["whole"]["documents"] == 300 and told["whole"]["status"] == 0
    assert told["whole"]["peak_rss_bytes"] >= told["whole"]["peak_pss_bytes"] > 50_000_000
    assert told["killed"]["same"] and told["killed"]["differ"] == []
    assert told["killed"]["files"] == told["whole"]["files"] > 20
    assert told["whole"]["manifest"]["content_sha256"] in result.stdout


# --- the watch -----------------------------------------------------------------------------------

CHILD = """
import multiprocessing, sys, time
def hold(bytes_):
    data = bytearray(b"x") * bytes_
    time.sleep(60)
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    for _ in range(2):
        context.Process(target=hold, args=(100_000_000,), daemon=True).start()
    print("   1.0 s  parse is done", flush=True)
    time.sleep(60)
"""


def test_memory_of_all_processes_is_counted(tmp_path: Path) -> None:
    script = tmp_path / "child.py"
    script.write_text(CHILD)
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / "file").write_bytes(bytes(5_000_000))
    watched = Watched([sys.executable, str(script)], [tmp_path / "place"])
    deadline = time.monotonic() + 60
    while watched.peak["pss"] < 200_000_000 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert watched.kill() < 30
    assert watched.processes() == []
    assert 200_000_000 <= watched.peak["pss"] <= watched.peak["rss"] < 500_000_000
    assert watched.peak["processes"] >= 3
    assert 5_000_000 <= watched.peak["disk"] < 5_100_000
    assert watched.lines == ["   1.0 s  parse is done"]
    assert [stage.name for stage in watched.stages] == ["parse"]


def test_a_child_that_outlives_its_parent_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import subprocess; subprocess.Popen(['sleep', '60']).wait()"
    watched = Watched([sys.executable, "-c", code])
    while len(watched.processes()) < 2:
        time.sleep(0.01)
    monkeypatch.setattr(builds, "PATIENCE", 0.2)
    with pytest.raises(RuntimeError, match="1 processes outlived"):
        watched.kill(alone=True)
    assert watched.processes() == []


def test_moments_by_hand() -> None:
    stages = [StageTime("parse", 10.0, 10.0, 1.0), StageTime("surveys", 12.0, 2.0, 1.0),
              StageTime("references", 40.0, 28.0, 1.0)]  # fmt: skip
    found = moments(stages, 200, seed=3)
    assert found == moments(stages, 200, seed=3) != moments(stages, 200, seed=4)
    began = [0.0, 10.0, 12.0]
    times = [began[moment.done] + moment.seconds for moment in found]
    assert times == sorted(times)
    assert all(0 <= moment.seconds <= (10.0, 2.0, 28.0)[moment.done] for moment in found)
    # Even over 40 seconds: a quarter in `parse`, give or take four standard deviations.
    assert abs(sum(moment.done == 0 for moment in found) - 50) < 25
    assert moments([], 2, seed=1) == [Moment(0, 0.0), Moment(0, 0.0)]
