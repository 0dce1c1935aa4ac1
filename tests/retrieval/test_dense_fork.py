"""Forked processes search what their parent has opened and used, and do not hang."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # forked processes

FORK = """
import os, sys
from pathlib import Path
import numpy as np
from dense_helpers import Numbers, build, text_of
from arena.encoders import ENCODERS
from arena.retrieval import Request, Scope
from arena.retrieval.dense import Dense
from arena_engines.retrievers.ivf import InvertedLists

ENCODERS.register("numbers")(Numbers)
rng = np.random.default_rng(0)
papers = [text_of(v) for v in rng.standard_normal((3000, 16))]
directory = Path(sys.argv[1])
build(papers, directory, InvertedLists, dimension=16, lists=8, training=400)
requests = [Request(text, 5, Scope(3000)) for text in papers[:40]]
engines = [Dense.open(directory), InvertedLists.open(directory, probes=4)]

def everything():
    found = [engine.search(*requests[0]) for engine in engines]
    found += [ranking for engine in engines for ranking in engine.search_batch(requests)]
    return b"".join(ranking.scores.tobytes() + ranking.documents.tobytes() for ranking in found)

before = everything()
import faiss  # let its pool of threads come up in the parent, as another user of it might
faiss.omp_set_num_threads(2)
faiss.knn(rng.random((500, 16), np.float32), rng.random((5000, 16), np.float32), 5)
children = []
for _ in range(2):
    child = os.fork()
    if child == 0:
        os._exit(0 if everything() == before else 1)
    children.append(child)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""


def run(code: str, *arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        capture_output=True, text=True, timeout=240, cwd=Path(__file__).parents[1],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_children_find_what_their_parent_finds(tmp_path):
    pytest.importorskip("faiss")
    assert run(FORK, tmp_path) == "[0, 0]\n"
