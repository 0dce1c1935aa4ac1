"""examples/search_tree.py: the search by the ranker finds more than one without a value."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "search_tree.py"


def test_it_runs_and_counts_what_it_tries(synthetic, tmp_path, monkeypatch, capsys):
    output = tmp_path / "tree.json"
    words = [str(EXAMPLE), "--corpus", str(synthetic), "--quick", "--output", str(output)]
    monkeypatch.setattr(sys, "argv", words)
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    rows = json.loads(output.read_text())
    assert {name: row["tried"] for name, row in rows.items()} == {
        "any call": 1 + 2, "best of 4": 1 + 2 * 4, "best of 8": 1 + 2 * 8,
        "beam of 3, 4 calls each": 1 + 4 + 3 * 4, "best of 8 by the labels": 1 + 2 * 8,
    }  # fmt: skip
    labels = rows["best of 8 by the labels"]["recall"]
    assert 0 < rows["any call"]["recall"] <= labels <= 1
    assert len(capsys.readouterr().out.splitlines()) == 5
