"""Building on a full disk: an error that says so, and nothing left behind."""

from __future__ import annotations

import errno
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import SMALL, WORLD, arena_corpus, contents, names

from arena.retrieval.bm25 import BM25Retriever
from corpus_builder.build import build

pytestmark = pytest.mark.slow


def limit_files(size: int) -> Any:
    """Let every write beyond `size` bytes of a file fail, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.fixture(scope="module")
def largest(tmp_path_factory: pytest.TempPathFactory) -> int:
    """The size of the largest file that the build of WORLD leaves."""
    output = tmp_path_factory.mktemp("largest") / "c"
    assert arena_corpus(*WORLD, "--output", output).returncode == 0
    return max(len(data) for data in contents(output).values())


@pytest.mark.parametrize("share", [0.01, 0.6])
def test_disk_full(tmp_path: Path, largest: int, share: float) -> None:
    output = tmp_path / "c"
    result = arena_corpus(*WORLD, "--output", output, preexec_fn=limit_files(int(share * largest)))
    assert result.returncode == 2, result.stderr
    assert result.stderr.startswith(f"arena-corpus: error: cannot write {str(output)!r}: ")
    assert result.stderr.count("\n") == 1
    assert "free some disk space" in result.stderr
    assert names(tmp_path) == []


def test_disk_full_while_overwriting(tmp_path: Path, mini: Path) -> None:
    output = tmp_path / "c"
    shutil.copytree(mini, output)
    result = arena_corpus(*WORLD, "--overwrite", "--output", output, preexec_fn=limit_files(9999))
    assert result.returncode == 2
    assert contents(output) == contents(mini)
    assert names(tmp_path) == ["c"]


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


def test_an_array_that_an_engine_cut_fails_the_build(tmp_path: Path, monkeypatch: Any) -> None:
    written = BM25Retriever.build

    def cut(source: Any, directory: Path, *arguments: Any) -> Any:
        told = written(source, directory, *arguments)
        path = directory / "cut.npy"
        np.save(path, np.arange(9))
        os.truncate(path, path.stat().st_size - 1)
        return told

    monkeypatch.setattr(BM25Retriever, "build", cut)
    with pytest.raises(OSError, match=r"cannot write .*: the index bm25 was cut off"):
        build(SMALL, tmp_path / "c")
    assert names(tmp_path) == []
