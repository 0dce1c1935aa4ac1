"""A damaged index of the engine lucene: an error that says so, never a crash."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import class_file
import numpy as np
import pytest
from lucene_helpers import build, opened

import arena
from arena._internal.arrays import save_array
from arena.errors import CorpusError
from arena.retrieval import Scope
from arena.retrieval.lucene import LuceneRetriever, _java

pytestmark = pytest.mark.slow  # Java

PAPERS = [f"graph net word{n} word{n % 17}" for n in range(400)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    directory = tmp_path_factory.mktemp("whole")
    build(PAPERS, directory)
    return directory


@pytest.fixture
def copy(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "index")
    return tmp_path / "index"


def search(directory: Path) -> list[int]:
    engine = opened(directory)
    return engine.search("graph word3 word16", 10, Scope(300)).documents.tolist()


def files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.rglob("*") if path.is_file())


@pytest.mark.parametrize("cut", ["all", "half", "one byte", "removed"])
def test_a_cut_file(whole, copy, cut):
    for name in [path.relative_to(whole) for path in files(whole)]:
        path = copy / name
        data = path.read_bytes()
        if cut == "removed":
            path.unlink()
        else:
            path.write_bytes(data[: {"all": 0, "half": len(data) // 2}.get(cut, len(data) - 1)])
        with pytest.raises(CorpusError, match="again"):
            search(copy)
            pytest.fail(f"{name} {cut}: nobody noticed")
        path.write_bytes(data)
    assert search(copy) == search(whole)


def test_a_flipped_bit_is_no_crash(whole, copy):
    """It may go unnoticed until ``arena-corpus verify``; where it is noticed, the error is ours."""
    rng = np.random.default_rng(0)
    noticed = 0
    for name in [path.relative_to(whole) for path in files(whole / "segment")]:
        data = (copy / name).read_bytes()
        for place in rng.integers(0, len(data), 12):
            broken = bytearray(data)
            broken[place] ^= 1 << int(rng.integers(8))
            (copy / name).write_bytes(broken)
            try:
                assert all(document < 300 for document in search(copy))
            except CorpusError:
                noticed += 1
        (copy / name).write_bytes(data)
    assert noticed > 20


def test_arrays_of_another_index(copy):
    for name, array in (
        ("documents", np.arange(399, dtype=np.uint32)),
        ("length_before", np.zeros(7, np.int64)),
        ("documents_before", np.zeros(0, np.int64)),
    ):
        before = (copy / f"{name}.npy").read_bytes()
        save_array(copy / f"{name}.npy", array)
        with pytest.raises(CorpusError, match="is damaged"):
            search(copy)
        (copy / f"{name}.npy").write_bytes(before)


def test_the_segment_of_another_index(whole, copy, tmp_path):
    build(PAPERS[:7], tmp_path / "other")
    shutil.rmtree(copy / "segment")
    shutil.copytree(tmp_path / "other" / "segment", copy / "segment")
    with pytest.raises(CorpusError, match="holds 7 documents in 1 segments, not 400 in one"):
        search(copy)


def test_a_file_cut_while_it_is_open(copy):
    """The machine raises a signal for memory that is gone; Java makes an error of it."""
    code = """
import sys; from pathlib import Path
from arena.retrieval import Scope
from arena.retrieval.lucene import LuceneRetriever
engine = LuceneRetriever.open(Path(sys.argv[1]))
engine.search("word1", 1, Scope(400))
for path in Path(sys.argv[1], "segment").iterdir():
    path.open("r+b").truncate(0)
try:
    for n in range(400):
        engine.search(f"graph word{n}", 400, Scope(400))
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, copy], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("CorpusError ")
    assert done.stderr == ""


def test_an_index_of_another_corpus_and_none(world, mini, tmp_path):
    shutil.copytree(world, tmp_path / "c")
    corpus = arena.Corpus.open(tmp_path / "c")
    with pytest.raises(CorpusError, match="has no index 'lucene'"):
        corpus.at("2015", retriever="lucene").search("graph")


@pytest.mark.parametrize("times", [1, 2])
def test_an_index_rebuilt_before_the_first_search(whole, copy, tmp_path, times):
    """As many documents, so that nothing but the file tells the two indexes apart."""
    engine = LuceneRetriever.open(copy)
    searched = LuceneRetriever.open(copy)
    before = searched.search("graph word3", 5, Scope(300))
    for number in range(times):
        build([f"{paper} and more words" for paper in PAPERS], tmp_path / f"new{number}")
        copy.rename(tmp_path / "old")
        (tmp_path / f"new{number}").rename(copy)
        shutil.rmtree(tmp_path / "old")
    with pytest.raises(CorpusError, match=r"was rebuilt .* open the corpus again"):
        engine.search("graph word3", 5, Scope(300))
    after = searched.search("graph word3", 5, Scope(300))
    assert after.documents.tolist() == before.documents.tolist()
    assert after.scores.tolist() == before.scores.tolist()
    assert search(copy)


def test_the_process_ends_with_the_engine(copy):
    def running() -> bool:
        try:
            return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    engine = LuceneRetriever.open(copy)
    engine.search("graph", 1, Scope(300))
    (java,) = engine._processes.values()
    process = java._process.pid
    assert running()
    del engine
    assert not running()


def test_the_compiled_class_is_that_of_its_source():
    assert _java.class_file() == class_file.class_file()
