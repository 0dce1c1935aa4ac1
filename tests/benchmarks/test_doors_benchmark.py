"""The benchmark of many episodes at once: nothing is lost, and nothing stays open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main

pytest.importorskip("mcp")
SMALL = ["--searches", "2", "--episodes", "3", "--k", "2", "--idle", "1"]


@pytest.fixture
def rows(world: Path, tmp_path: Path) -> Any:
    """Return a function that runs the benchmark with more options and returns its rows."""

    def run(*options: str) -> Any:
        file = tmp_path / "out.json"
        words = ["doors", "--corpus", str(world), *SMALL, *options, "--json", str(file)]
        assert main(words) == 0
        return json.loads(file.read_text())["rows"]

    return run


def test_every_door_answers_every_call(rows: Any, capsys: Any) -> None:
    found = rows("--sessions", "1,3")
    doors = ["plain environment", "sessions in threads", "mcp over HTTP", "/retrieve"]
    assert [(row["door"], row["sessions"]) for row in found] == [
        (door, number) for number in (1, 3) for door in doors
    ]
    for row in found:
        assert len(row["calls"]) == 6
        assert row["lost"] == 0
        assert row["left"] in (0, None)
    assert "| mcp over HTTP " in capsys.readouterr().out
