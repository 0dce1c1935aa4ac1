"""`python -m benchmarks build`: a build that is watched."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.builds import memory_of

pytestmark = [
    pytest.mark.slow,  # builds in processes of their own
    pytest.mark.skipif(sys.platform != "linux", reason="measures PSS"),
]

CHILD = """
import multiprocessing, time
def hold(bytes_):
    data = bytearray(b"x") * bytes_
    time.sleep(60)
if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    for _ in range(2):
        context.Process(target=hold, args=(100_000_000,), daemon=True).start()
    time.sleep(60)
"""


def test_memory_of_all_processes_is_counted(tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(CHILD)
    process = subprocess.Popen([sys.executable, str(tmp_path / "child.py")])
    deadline = time.monotonic() + 60
    while (seen := memory_of(process.pid))[0] < 200_000_000 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.terminate()
    process.wait()
    assert 200_000_000 <= seen[0] < 500_000_000 and seen[1] >= 3
    assert memory_of(process.pid) == (0, 0)


def test_the_command(tmp_path: Path, capsys: Any) -> None:
    words = ["build", "--papers", "300", "--surveys", "5", "--shards", "2", "--option=--set",
             "--option=full_text_only=false", "--output", str(tmp_path / "m")]  # fmt: skip
    assert main([*words, "--json", str(tmp_path / "r.json")]) == 0
    out = capsys.readouterr().out
    results = json.loads((tmp_path / "r.json").read_text())
    assert results["papers"] == 300 and "300 papers" in out
    stages = ["parse", "surveys", "references", "mind-maps", "index", "card"]
    assert set(results["stages"]) == set(stages)
    assert sum(results["stages"].values()) <= results["seconds"]
    assert results["pss"] > 10_000_000 and results["cpu"] > 0 and results["disk"] > 10_000
    assert main(words) == 2
    assert "exists already" in capsys.readouterr().err
    assert main([*words[:-1], str(tmp_path / "n"), "--option=--set", "--option=nonsense=1"]) == 2
    assert "fails with status 2: arena-corpus: error:" in capsys.readouterr().err
