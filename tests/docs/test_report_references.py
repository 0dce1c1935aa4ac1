"""Real reports against the bibliography of a topic that people wrote."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "report_references.py"


def test_scores_by_hand(tmp_path, monkeypatch, capsys):
    for name, entries in {
        "people": ["Deep Nets", "Graph Nets", "deep nets.", "Trees"],
        "model": ["Graph nets", "Clouds", "Nobody cites this"],
    }.items():
        (tmp_path / name).mkdir()
        cited = len(entries) - (name == "model")
        marks = " ".join(f"So it is [{n}]." for n in range(1, cited + 1))
        listed = "\n\n".join(f"[{n}] {title}" for n, title in enumerate(entries, 1))
        text = f"# Nets\n\n{marks}\n\n## References\n\n{listed}\n"
        (tmp_path / name / "Nets.md").write_text(text)
    folders = [str(tmp_path / name) for name in ("people", "model")]
    monkeypatch.setattr(sys, "argv", ["report_references.py", *folders])
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    # One of two cited works, of three works that people cite.
    numbers = ["0.500", "0.333", "0.400", "2.000"]
    assert rows == [["model", "Nets", *numbers], ["model", "mean", *numbers]]
