"""examples/time_corpus.py: what a command costs, and what it leaves on disk."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "time_corpus.py"))


def test_cost_of_a_command(capfd: Any) -> None:
    cost = EXAMPLE["cost_of"]("timeit", "-n", "1", "-r", "1", "-s", "'x' * 300_000_000")
    assert 0 < cost.cpu <= cost.seconds * 2
    assert cost.memory > 0.3  # GB: the text; what this process had before it forked counts, too
    assert "$ timeit" in capfd.readouterr().err


def test_a_command_that_fails_ends_the_script() -> None:
    with pytest.raises(SystemExit, match="timeit ended with status 2"):
        EXAMPLE["cost_of"]("timeit", "--nonsense")


def test_size_of_a_directory(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "b").write_bytes(b"x" * 3000)
    (tmp_path / "c").write_bytes(b"x" * 1000)
    assert EXAMPLE["size"](tmp_path) == 4e-6
