"""Where nothing can be compiled, or nothing kept, the hits are the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from arena.cli import main

UNCOMPILED = (
    "test_bm25.py::test_by_hand",
    "test_dense.py::test_by_hand",
    "test_dense.py::test_the_ends_of_what_can_be_asked",
)
NOWHERE = """
import sys
from numba.core.caching import CompileResultCacheImpl
CompileResultCacheImpl._locator_classes = []
from arena.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_what_is_not_compiled_finds_the_same() -> None:
    tests = [f"{Path(__file__).parent / name}" for name in UNCOMPILED]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", *tests]
    subprocess.run(command, env=environment, check=True)


@pytest.mark.slow
def test_where_nothing_can_be_written_is_compiled_each_time(
    mini: Path, capsys: pytest.CaptureFixture[Any]
) -> None:
    words = ["search", "--corpus", str(mini), "--query", "encoders", "--before", "2022"]
    assert main(words) == 0
    command = [sys.executable, "-c", NOWHERE, *words]
    got = subprocess.run(command, capture_output=True, text=True, check=True)
    assert got.stdout == capsys.readouterr().out
    (line,) = got.stderr.splitlines()
    assert "set NUMBA_CACHE_DIR to a folder that can be written" in line
