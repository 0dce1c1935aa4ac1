"""`python -m benchmarks env`: what is asked, what is timed, and what follows from the times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main
from benchmarks.environments import show


def test_ratios_are_to_the_faster_async_kind() -> None:
    seconds = {"async spawn": [4e-3, 2e-3, 3e-3], "async fork": [2e-3], "scalar": [1e-3],
               "search 1": [5e-4]}  # fmt: skip
    settings = {"retriever": "bm25", "k": 7}
    results = {"machine": "M", "corpus": "c" * 64, "settings": settings, "seconds": seconds,
               "skipped": {"arena 8": "why"}}  # fmt: skip
    rows = [line.split("|")[1:-1] for line in show(results).splitlines() if line[:2] == "| "]
    cells = [[cell.strip() for cell in row] for row in rows[1:]]
    assert cells == [
        ["async spawn", "333", "3,000", "0.667"],
        ["async fork", "500", "2,000", "1"],
        ["scalar", "1,000", "1,000", "2"],
        ["search 1", "2,000", "500", ""],
    ]
    assert "arena 8 was skipped: why" in show(results)


@pytest.mark.slow  # spawns processes
def test_the_command(world: Path, tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "r.json"
    words = ["env", "--corpus", str(world), "--num-envs", "9", "--steps", "20", "--rounds", "2"]
    assert main([*words, "--json", str(file)]) == 0
    assert "steps" in capsys.readouterr().out
    seconds = json.loads(file.read_text())["seconds"]
    assert set(seconds) == {
        "async spawn", "async fork", "scalar", "sync 9", "arena 1", "arena 8", "arena 9",
        "search 1", "search 8", "search 9",
    }  # fmt: skip
    assert all(len(times) == 2 and min(times) > 0 for times in seconds.values())
