"""A full disk: an array that does not fit is an error."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


CUT = """
import pathlib, resource, numpy as np
from arena.kit.arrays import save_array
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
