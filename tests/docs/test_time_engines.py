"""examples/time_engines.py: a row for each engine and cutoff, with the hits of the engine."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).parents[2] / "examples" / "time_engines.py"


def test_times_of_each_engine_at_each_cutoff(
    synthetic: Path, monkeypatch: Any, capsys: Any
) -> None:
    words = ["--queries", "4", "--k", "5", "--repeats", "1", "--cutoffs", "50,100"]
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), "--corpus", str(synthetic), *words])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    rows = [
        line.split("|")[1:-1] for line in capsys.readouterr().out.splitlines() if "| bm25 " in line
    ]
    assert [row[1].strip() for row in rows] == ["50", "100"]
    for row in rows:
        assert min(map(float, row[2:5])) > 0
        assert float(row[5]) == 1
