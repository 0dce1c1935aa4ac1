"""The README is true: its commands exist and its episode runs as printed."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import arena
from arena.cli import main

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
DEMO = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")

AGENT, EPISODE = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


def test_the_agent_runs(synthetic, tmp_path, capsys):
    (tmp_path / "mine.py").write_text(AGENT, encoding="utf-8")
    (line,) = re.findall(r"^arena (run .*mine.py:Cited.*)$", TEXT, flags=re.MULTILINE)
    arguments = shlex.split(
        line.replace("demo/synthetic", str(synthetic))
        .replace("mine.py", str(tmp_path / "mine.py"))
        .replace("demo/runs/cited", str(tmp_path / "cited"))
    )
    assert main([*arguments, "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert {entry["searches"] for entry in summary["per_topic"].values()} == {1}
    title = arena.run(synthetic, "discovery", "title", tmp_path / "title")
    assert summary["mean"]["recall@100"] > title["mean"]["recall@100"]


def test_the_episode_runs(synthetic, tmp_path):
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "synthetic").symlink_to(synthetic)
    command = [sys.executable, "-c", EPISODE]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "'recall@100': " in done.stdout


@pytest.mark.slow
def test_the_demo_prints_what_is_shown(tmp_path):
    shown = re.findall(r"```text\n(Building.*?)```", DEMO, flags=re.DOTALL)[0]
    parts = [without_seconds(part.strip()) for part in shown.split("\n...\n")]
    parts[0] = parts[0].split("\n", 2)[2]  # the second time the synthetic corpus is there already
    command = [sys.executable, str(ROOT / "examples" / "demo.py"), "--output", "demo"]
    for _ in range(2):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        printed = without_seconds(done.stdout)
        assert [part for part in parts if part not in printed] == []


def without_seconds(line: str) -> str:
    return re.sub(r"\d+\.\d s\b", "... s", line)
