"""Building an index of the engine dense: killed, damaged, with other encoders, in a corpus."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from dense_helpers import Numbers, Papers, build, built, numbers, plain, text_of  # noqa: F401
from helpers import SMALL, contents

import arena
from arena.encoders import ENCODERS
from arena.encoders.static import Static
from arena.errors import CorpusError, DataError
from arena.retrieval import Scope
from arena.retrieval.dense import Dense, _build
from corpus_builder.build import build as build_corpus

pytestmark = pytest.mark.usefixtures("numbers")


def some_papers(n: int = 1200) -> list[str | None]:
    """Texts of real words, with blank ones and papers that are not searchable in between."""
    words = ["coral", "reef", "graph", "network", "passage", "ranking", "proof", "of", "the", "a"]
    rng = np.random.default_rng(5)
    drawn = [" ".join(rng.choice(words, rng.integers(1, 30))) for _ in range(n)]
    return [None if i % 7 == 3 else " " if i % 50 == 9 else text for i, text in enumerate(drawn)]


# Killed builds. The child builds with the real encoder, batch by batch.

CHILD = """
import json, os, signal, sys
from pathlib import Path
from dense_helpers import Papers, plain
from arena.encoders.static import Static
from arena.retrieval.dense import Dense, _build
directory, point, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
calls = 0

def die_at(name, after):
    def decorate(function):
        def wrapped(*arguments):
            global calls
            calls += name == point
            if name == point and calls == count and not after:
                os.kill(os.getpid(), signal.SIGKILL)
            result = function(*arguments)
            if name == point and calls == count and after:
                os.kill(os.getpid(), signal.SIGKILL)
            return result
        return wrapped
    return decorate

def torn(self, rows):  # half a row reaches the disk
    self._file.write(rows.tobytes()[:700])
    self._file.flush()
    os.kill(os.getpid(), signal.SIGKILL)

Static.documents = die_at("encode", False)(Static.documents)
_build.ArrayWriter.sync = die_at("append", True)(_build.ArrayWriter.sync)
if point == "torn":
    _build.ArrayWriter.append = torn
_build.write_json = die_at("state", True)(_build.write_json)
_build.save_array = die_at("documents", False)(_build.save_array)
papers = Papers(json.loads(sys.stdin.read()))
Dense.build(papers, directory, ("title",), plain)
"""


def child(directory: Path, papers: list[str | None], point: str, count: int) -> int:
    return subprocess.run(
        [sys.executable, "-c", CHILD, str(directory), point, str(count)],
        input=json.dumps(papers),
        text=True,
        cwd=Path(__file__).parents[1],
        timeout=120,
    ).returncode


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted build of `some_papers`."""
    directory = tmp_path_factory.mktemp("whole")
    Dense.build(Papers(some_papers()), directory, ("title",), plain)
    return contents(directory)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("point", "count", "kept"),
    [
        ("encode", 1, 0), ("encode", 3, 512), ("append", 3, 512), ("state", 3, 768),
        ("torn", 1, 0), ("documents", 1, 1029),
    ],
)  # fmt: skip
def test_a_killed_build_continues(tmp_path, whole, monkeypatch, point, count, kept):
    papers = some_papers()
    assert child(tmp_path, papers, point, count) == -signal.SIGKILL
    with pytest.raises(CorpusError):
        Dense.open(tmp_path)
    encoded = []
    usual = Static.documents
    monkeypatch.setattr(
        Static, "documents", lambda self, texts: encoded.extend(texts) or usual(self, texts)
    )
    shown = {}

    def progress(texts, **options):
        shown.update(options)
        return texts

    Dense.build(Papers(papers), tmp_path, ("title",), progress)
    assert contents(tmp_path) == whole
    left = [text for text in papers if text is not None][kept:]
    assert encoded == [text for text in left if text.strip()]
    assert shown == ({"initial": kept} if kept else {})


def test_leftovers_of_another_build_are_not_trusted(tmp_path, monkeypatch):
    """Another encoder or a vanished file: everything is made again.

    Leftovers of other papers are those of another corpus, which `build_index` tells apart.
    """
    monkeypatch.setattr(_build, "BATCH_ROWS", 2)
    papers = [text_of([i + 1, i * i, 1]) for i in range(9)]
    build(papers, tmp_path / "whole")
    expected = contents(tmp_path / "whole")

    class Stops(Numbers):
        calls = 0

        def documents(self, texts):
            Stops.calls += 1
            if Stops.calls == 3:
                raise KeyboardInterrupt
            return super().documents(texts)

    def begin(directory, papers, **options):
        Stops.calls = 0
        with monkeypatch.context() as patch:
            patch.setitem(ENCODERS._items, "numbers", Stops)
            with pytest.raises(KeyboardInterrupt):
                build(papers, directory, **options)
        assert (directory / "building.json").exists()

    for options in ({"name": "others"}, {"dimension": 3}):
        directory = tmp_path / str(options)
        begin(directory, papers, **options)
        build(papers, directory)
        assert contents(directory) == expected
    for file, change in (
        ("vectors.npy", lambda path: path.unlink()),
        ("vectors.npy", lambda path: os.truncate(path, 130)),
        ("building.json", lambda path: path.write_text('{"rows": 3')),
        ("building.json", lambda path: path.write_text("[]")),
    ):
        directory = tmp_path / f"{file} {id(change)}"
        begin(directory, papers)
        change(directory / file)
        build(papers, directory)
        assert contents(directory) == expected


# What a build refuses.


class Broken(Numbers):
    """Returns what no encoder should."""

    def __init__(self, fault: str = "") -> None:
        super().__init__()
        self.config["fault"] = self._fault = fault
        if fault == "no dimension":
            self.dimension = 0

    def documents(self, texts):
        found = super().documents(texts)
        if self._fault == "nan":
            found[-1, 0] = np.nan
            return found
        return found[:, :2] if self._fault == "narrow" else found[1:]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("nan", "NaN or an infinity. It is of one of 3 papers from 0 on"),
        ("narrow", r"shape \(3, 2\) for 3 texts, not \(3, 3\)"),
        ("short", r"shape \(2, 3\) for 3 texts"),
        ("no dimension", "0 dimensions, not 1 to 65536"),
    ],
)
def test_a_broken_encoder(tmp_path, monkeypatch, fault, message):
    monkeypatch.setitem(ENCODERS._items, "numbers", Broken)
    with pytest.raises(DataError, match=message):
        build(["1 0 0", "0 1 0", "0 0 1"], tmp_path, fault=fault)


# What does not open.


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("vectors.npy", lambda path: os.truncate(path, 129), "is damaged"),
        ("documents.npy", lambda path: path.unlink(), "is missing"),
        ("encoder.json", lambda path: path.write_text("[1"), "is missing or damaged"),
        ("vectors.npy", lambda path: np.save(path, np.ones((2, 3))), "float64"),
        ("codes.npy", lambda path: path.unlink(), "codes.npy' is damaged: it is missing.* Build"),
        ("codes.npy", lambda path: np.save(path, np.ones((2, 3), "i1")), r"int8 of \(2, 64\)"),
    ],
)
def test_a_damaged_index(tmp_path, file, change, message):
    build(["1 0 0", "0 1 0"], tmp_path)
    Dense.open(tmp_path)
    change(tmp_path / file)
    with pytest.raises(CorpusError, match=message):
        Dense.open(tmp_path)


def given(self, dimension, **config):
    self.dimension, self.config = dimension, {"model": "numbers", **config}


def test_an_encoder_that_is_no_longer_the_same(tmp_path, monkeypatch):
    build(["1 0 0", "0 1 0"], tmp_path)
    message = r"built with another encoder .* model was 'numbers', is 'words'"
    for config in ({"model": "words"}, {"model": "words", "runtime": {"version": 2}}):
        monkeypatch.setattr(Numbers, "__init__", lambda self, c=config: given(self, 3, **c))
        engine = Dense.open(tmp_path)
        for _ in range(2):
            with pytest.raises(CorpusError, match=message):
                engine.search("1 0 0", 1, Scope(2))
    # What only moves the last digits may differ, and is told.
    monkeypatch.setattr(Numbers, "__init__", lambda self: given(self, 3, runtime={"version": 2}))
    engine = Dense.open(tmp_path)
    assert engine.search("1 0 0", 1, Scope(2)).documents.tolist() == [0]
    assert engine.config == {
        "encoder": {
            "name": "numbers",
            "model": "numbers",
            "runtime": {"version": 1},
            "query_runtime": {"version": 2},
        },
    }


# In a corpus.


def test_built_with_a_corpus(tmp_path):
    manifests = []
    for name in ("one", "two"):
        build_corpus(SMALL, tmp_path / name, engines=("dense",), fields=("title", "abstract"))
        manifests.append(json.loads((tmp_path / name / "index/dense/manifest.json").read_text()))
    assert manifests[0] == manifests[1]
    files = contents(tmp_path / "one" / "index/dense")
    assert files == contents(tmp_path / "two" / "index/dense")
    manifest = manifests[0]
    written = ["bounds.npy", "codes.npy", "documents.npy", "encoder.json", "vectors.npy"]
    assert sorted(manifest["files"]) == written
    assert sorted(files) == sorted([*written, "manifest.json"])
    assert (manifest["documents"], manifest["dimension"], manifest["blank"]) == (1, 256, 0)
    assert manifest["encoder"]["name"] == "static"
    assert str(tmp_path) not in json.dumps(manifest)
    hits = arena.Corpus.open(tmp_path / "one").at("2020", retriever="dense").search("beta", 5)
    assert [hit.id for hit in hits] == ["a"]
    assert 0 < hits[0].score < 1
