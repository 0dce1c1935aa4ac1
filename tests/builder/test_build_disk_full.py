"""Building on a full disk: an error that says so, and nothing left behind."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import MAIN, SMALL, WORLD, arena_corpus, contents, names

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


@pytest.mark.parametrize("share", [0, 0.01, 0.1, 0.3, 0.6, 0.9, 0.999])
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


def test_disk_full_while_sorting(tmp_path: Path, mini_records: Any) -> None:
    papers, surveys = mini_records.write(tmp_path)
    code = """
import corpus_builder.build as b
import corpus_builder.content as c
b._MEMORY_LIMIT = 20_000_000
def write_links(connection, output):
    connection.execute(
        "SELECT * FROM (SELECT hash(range) AS h, repeat('x', 100) || range AS t "
        "FROM range(2000000) ORDER BY h) OFFSET 1999999"
    ).fetchall()
c.write_links = write_links
"""
    output = tmp_path / "c"
    options = ["jsonl", "--papers", papers, "--surveys", surveys, "--output", output]
    result = arena_corpus(*options, code=code + MAIN, preexec_fn=limit_files(1 << 20))
    assert result.returncode == 2, result.stderr
    assert result.stderr.startswith(f"arena-corpus: error: cannot write {str(output)!r}: ")
    assert result.stderr.count("\n") == 1
    assert names(tmp_path) == ["papers.jsonl", "surveys.jsonl"]


@pytest.mark.parametrize("size", [0, 127, 128, 129, 4096, 7999, 8000, 8100, 8127])
def test_a_cut_array_is_an_error(tmp_path: Path, size: int) -> None:
    """`numpy.save` drops the end in silence when only that does not fit."""
    code = (
        "import numpy as np, pathlib; from arena._internal.arrays import save_array\n"
        "save_array(pathlib.Path('a.npy'), np.arange(1000))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        preexec_fn=limit_files(size),
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1 and "OSError: [Errno 27] File too large" in result.stderr


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
