"""The benchmark of many episodes at once: nothing is lost, and nothing stays open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.__main__ import main

pytest.importorskip("mcp")


def test_every_integration_answers_every_call(synthetic: Path, tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "out.json"
    words = [
        "integrations",
        "--corpus",
        str(synthetic),
        "--searches",
        "2",
        "--episodes",
        "3",
        "--k",
        "2",
    ]
    assert main([*words, "--clients", "64", "--idle", "2", "--json", str(file)]) == 0
    rows = json.loads(file.read_text())["rows"]
    assert [row["integration"] for row in rows] == ["mcp", "retrieve"]
    for row in rows:
        assert (len(row["calls"]), row["lost"], row["left"]) == (128, 0, 0)
        assert min(row["server"], row["client"]) > 0
    assert "| retrieve " in capsys.readouterr().out
