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

AGENT, EPISODE = re.findall(r"```python\n(?!>>> )(.*?)```", TEXT, flags=re.DOTALL)


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
    (shown,) = re.findall(r"```text\n(15 runs.*?)```", DEMO, flags=re.DOTALL)
    files = []
    for jobs in ("2", "1"):
        command = [sys.executable, str(ROOT / "examples" / "demo.py"), "--jobs", jobs]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout == shown
        assert len(done.stdout.splitlines()) < 30
        paths = [path for path in sorted((tmp_path / "demo").rglob("*")) if path.is_file()]
        files.append({str(path): path.read_bytes() for path in paths})
    assert files[0] == files[1]
