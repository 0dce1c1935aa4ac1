"""What the README shows is true: its commands exist and its episode runs as printed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_episode_runs(world, tmp_path):
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "world").symlink_to(world)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "'recall@100': " in done.stdout


def test_the_two_commands_are_targets():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test", "install", "lint", "bench"):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE)
    assert "make demo" in TEXT.split("\n## ")[1]
    assert "make test" in TEXT.split("\n## ")[1]
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
