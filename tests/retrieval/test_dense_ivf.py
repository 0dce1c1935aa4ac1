"""Inverted lists: nothing of the future, exact scores, a recall that is what it says."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from dense_helpers import Papers, build, built, numbers, oracle, plain, same, text_of  # noqa: F401
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.errors import CorpusError, DataError
from arena.retrieval import Request, Scope
from arena.retrieval.dense import Dense
from arena_engines.retrievers import ivf
from arena_engines.retrievers.ivf import InvertedLists

pytest.importorskip("faiss")
pytestmark = pytest.mark.usefixtures("numbers")

DIMENSION, ROWS, TRAINING = 8, 700, 320
LISTS = {"kind": InvertedLists, "lists": 8, "training": TRAINING, "dimension": DIMENSION}


def clusters(rows: int = ROWS, seed: int = 0) -> list[str]:
    """Papers around a few topics; later ones belong to topics that the older ones lack."""
    rng = np.random.default_rng(seed)
    topics = rng.standard_normal((16, DIMENSION))
    chosen = rng.integers(0, 8, rows) + np.where(np.arange(rows) > 450, rng.integers(0, 9, rows), 0)
    return [text_of(topics[i] + 0.3 * rng.standard_normal(DIMENSION)) for i in chosen]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """An index with lists, built once."""
    from dense_helpers import Numbers

    from arena.encoders import ENCODERS

    directory = tmp_path_factory.mktemp("ivf")
    ENCODERS.names()
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(ENCODERS._items, "numbers", Numbers)
        told = build(clusters(), directory, **LISTS)
    return directory, told


def test_later_papers_change_nothing(index, tmp_path):
    """Every ranking at a cutoff is that of an index which ends there, byte for byte."""
    directory, _ = index
    papers, queries = clusters(), clusters(30, seed=1)
    whole = InvertedLists.open(directory, probes=2)
    flat = Dense.open(directory)
    approximate = 0
    for end in (100, TRAINING, TRAINING + 1, 400, 451, 600, ROWS):
        build(papers[:end], tmp_path / str(end), **LISTS)
        prefix = InvertedLists.open(tmp_path / str(end), probes=2)
        for query in queries:
            found = whole.search(query, 8, Scope(end))
            assert same(found, prefix.search(query, 8, Scope(end)))
            different = not same(found, flat.search(query, 8, Scope(end)))
            approximate += different
            assert not (different and end <= TRAINING)
    assert approximate > 20  # the lists were really used


@settings(
    deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    end=st.integers(0, ROWS),
    k=st.integers(1, 60),
    probes=st.integers(1, 9),
    query=st.integers(0, 29),
    excluded=st.sets(st.integers(0, ROWS - 1), max_size=5),
)
def test_scores_are_exact_and_the_scope_is_kept(index, end, k, probes, query, excluded):
    directory, _ = index
    engine = InvertedLists.open(directory, probes=probes)
    query = clusters(30, seed=1)[query]
    scope = Scope(end, tuple(sorted(n for n in excluded if n < end)))
    found = engine.search(query, k, scope)
    others = [Request(query, 3, Scope(end)), Request(query, k, scope)]
    assert same(engine.search_batch(others)[1], found)
    everything = oracle(directory, engine._queries.get(query), ROWS, end, set(scope.excluded))
    exact = dict(everything)
    pairs = list(zip(found.documents.tolist(), found.scores.tolist(), strict=True))
    assert len(pairs) == min(k, len(everything))
    assert all(exact[document] == score for document, score in pairs)
    assert pairs == sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def test_the_recall_told_is_the_recall(index):
    _, told = index
    assert {key: told["ivf"][key] for key in ("lists", "training", "probes")} == {
        "lists": 8, "training": TRAINING, "probes": ivf.PROBES,
    }  # fmt: skip
    # With as many probes as lists everything is found; 10 % and what has too few rows are flat.
    assert told["ivf"]["recall@100"] == {"10%": None, "50%": None, "100%": None}
    with tempfile.TemporaryDirectory() as other, pytest.MonkeyPatch.context() as patch:
        patch.setattr("arena_engines.retrievers.ivf.PROBES", 2)
        patch.setattr("arena_engines.retrievers.ivf._DEPTH", 10)
        papers = clusters(2000)
        recall = build(papers, Path(other), **LISTS)["ivf"]["recall@100"]
        assert recall["10%"] is None
        flat = Dense.open(Path(other))
        lists = InvertedLists.open(Path(other), probes=2)
        for share, end in (("50%", 1000), ("100%", 2000)):
            shares = []
            for i in np.linspace(0, 1999, 100).astype(int):
                exact = flat.search(papers[i], 10, Scope(end)).documents.tolist()
                found = lists.search(papers[i], 10, Scope(end)).documents.tolist()
                shares.append(len(set(exact) & set(found)) / 10)
            assert recall[share] == pytest.approx(np.mean(shares), abs=1e-4)
            assert 0.5 < recall[share] < 1


def test_when_lists_are_used(index, monkeypatch):
    directory, _ = index
    used = []
    usual = ivf.IVFSearch.search
    monkeypatch.setattr(
        ivf.IVFSearch, "search", lambda self, one: used.append(one.end) or usual(self, one)
    )
    query = clusters(1, seed=1)[0]

    def ends(k: int = 5) -> list[int]:
        used.clear()
        engine = InvertedLists.open(directory, probes=4)
        for end in (TRAINING, TRAINING + 1, 500, ROWS):
            engine.search(query, k, Scope(end))
        return list(used)

    assert ends() == [TRAINING + 1, 500, ROWS]
    assert ends(k=30) == [500, ROWS]  # 4 * 2 * 30 <= end * 4 / 8
    assert ends(k=ROWS) == []


BUILD = """
import sys
from pathlib import Path
import numpy as np
from arena_engines.retrievers import ivf
vectors = np.load(sys.argv[1])
ivf.build(vectors, Path(sys.argv[2]), 64, 4000, lambda blocks, **_: blocks)
"""


def test_the_number_of_threads_leaves_no_trace(tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "v.npy", rng.standard_normal((9000, 32)).astype(np.float16) / 8)
    hashes = set()
    for threads in ("1", "2", "5"):
        (tmp_path / threads).mkdir()
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
        subprocess.run(
            [sys.executable, "-c", BUILD, str(tmp_path / "v.npy"), str(tmp_path / threads)],
            env={**os.environ, **dict.fromkeys(names, threads)},
            check=True,
        )
        hashes.add(hashlib.sha256((tmp_path / threads / ivf.IVF).read_bytes()).hexdigest())
    assert len(hashes) == 1


@pytest.mark.parametrize("size", [0, 3, 100, 5000])
def test_a_damaged_file(tmp_path, size):
    build(clusters(), tmp_path, **LISTS)
    os.truncate(tmp_path / ivf.IVF, size)
    with pytest.raises(CorpusError, match=r"ivf.faiss' is damaged"):
        InvertedLists.open(tmp_path, probes=4).search(clusters(1)[0], 2, Scope(ROWS))


def test_without_faiss(tmp_path, monkeypatch, index):
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(DataError, match=r"pip install 'researcharena\[ivf\]'"):
        build(clusters(), tmp_path, **LISTS)
    assert list(tmp_path.iterdir()) == []
    engine = Dense.open(index[0])
    assert len(engine.search(clusters(1)[0], 5, Scope(ROWS)).documents) == 5
