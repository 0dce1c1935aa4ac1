"""Building on a full disk: an error that says so, and nothing left behind."""

from __future__ import annotations

import errno
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers import WORLD, arena_corpus, names

pytestmark = pytest.mark.slow


def limit_files(size: int) -> Any:
    """Let every write beyond `size` bytes of a file fail, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("size", [9999, 200_000])
def test_disk_full(tmp_path: Path, size: int) -> None:
    output = tmp_path / "c"
    result = arena_corpus(*WORLD, "--output", output, preexec_fn=limit_files(size))
    assert result.returncode == 2, result.stderr
    assert result.stderr.startswith(f"arena-corpus: error: cannot write {str(output)!r}: ")
    assert result.stderr.count("\n") == 1
    assert "free some disk space" in result.stderr
    assert names(tmp_path) == []


CUT = """
import pathlib, resource, numpy as np
from arena._internal.arrays import save_array
for size in (0, 127, 4096, 8127):
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    try:
        save_array(pathlib.Path(f"{size}.npy"), np.arange(1000))
        print(size, "written")
    except OSError as error:
        print(size, error.errno)
"""


def test_a_cut_array_is_an_error(tmp_path: Path) -> None:
    """`numpy.save` drops the end in silence when only that does not fit."""
    result = subprocess.run(
        [sys.executable, "-c", CUT], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    sizes = (0, 127, 4096, 8127)
    assert result.stdout.splitlines() == [f"{size} {errno.EFBIG}" for size in sizes]
