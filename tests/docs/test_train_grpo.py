"""The example that trains a language model: the whole in small, and what its agent refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import arena

SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "train_grpo.py"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"OMP_NUM_THREADS": "1", "TRL_EXPERIMENTAL_SILENCE": "1"}
    command = [sys.executable, str(SCRIPT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


@pytest.mark.slow
def test_the_tiny_model_trains_through_the_door(tmp_path: Path) -> None:
    for package in ("torch", "trl"):
        pytest.importorskip(package, reason="training needs the extra trl")
    done = run("--quick", "--output", str(tmp_path / "out"), "--reward", "gain+recall@100")
    assert done.returncode == 0, done.stderr[-2000:]
    curve = json.loads((tmp_path / "out" / "curve.json").read_text())
    assert [step["step"] for step in curve["steps"]] == [1, 2, 3]
    named = [
        [world for world in ("easy", "medium", "hard") if step[f"rewards/{world}/mean"] is not None]
        for step in curve["steps"]
    ]
    assert named == [["easy"], ["medium"], ["hard"]]
    assert 0 < curve["environment"] < 1
    (world,) = (tmp_path / "out" / "worlds").glob("2001-*")
    for when in ("before", "after"):  # the same weights play the same episodes
        first, agent = tmp_path / "out" / "runs" / f"unseen-{when}", f"{SCRIPT}:LanguageModel"
        weights = {"weights": str(tmp_path / "out" / when)}
        arena.run(world, "discovery", agent, tmp_path / when, agent_options=weights)
        for name in ("trajectories.jsonl", "metrics.json"):
            assert (tmp_path / when / name).read_bytes() == (first / name).read_bytes()
    assert "3 steps, " in done.stdout
    assert "recall@100 over 6 surveys" in done.stdout


def test_what_cannot_be_done_is_refused_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("trl", reason="training needs the extra trl")
    done = run("--quick", "--output", str(tmp_path / "out"), "--tools", "seek")
    assert done.returncode == 2
    assert "there is no 'seek' among ['citations'," in done.stderr.splitlines()[-1]
