"""A damaged index of the engine lucene: an error that says so, never a crash."""

from __future__ import annotations

import shutil
from pathlib import Path

import class_file
import pytest
from lucene_helpers import build, opened

from arena.errors import CorpusError
from arena.retrieval import Scope
from arena_engines.retrievers.lucene import LuceneRetriever, _java

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
