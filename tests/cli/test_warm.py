"""`arena warm` compiles all that a run compiles."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import pytest

from corpus_builder.index import build_index


@pytest.mark.slow
def test_a_run_after_it_compiles_nothing(world, tmp_path):
    corpus = shutil.copytree(world, tmp_path / "corpus")
    build_index(corpus, "dense")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "compiled")}

    def arena(*words):
        subprocess.run([sys.executable, "-m", "arena", *words], env=environment, check=True)
        return {path.name for path in (tmp_path / "compiled").rglob("*.nbc")}

    compiled = arena("warm")
    assert all(any(loop in name for name in compiled) for loop in ("scan", "offer_block"))
    options = ["--corpus", str(corpus), "--surveys", "2", "--output", str(tmp_path / "run")]
    options += ["--retriever", "hybrid(bm25,dense)"]
    assert arena("run", "--task", "survey", "--agent", "random", *options) == compiled
