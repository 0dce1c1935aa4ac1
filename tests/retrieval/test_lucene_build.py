"""Building the index of the engine lucene: the same bytes, in a process that never lingers."""

from __future__ import annotations

import signal
import subprocess

import pytest
from helpers import contents
from lucene_helpers import Papers

import arena
from arena.retrieval import Scope
from arena_engines.retrievers.lucene import LuceneRetriever
from corpus_builder.build import build as build_corpus
from corpus_builder.manifest import verify
from corpus_builder.sources.synthetic import SyntheticSource
from corpus_builder.synthetic import SyntheticConfig

pytestmark = pytest.mark.slow  # Java

LONGEST = "𐌰" * 300
PAPERS = ["graph net, graph", None, "the", "深度 net", LONGEST]


@pytest.fixture
def writers(monkeypatch):
    """The writing processes that a test starts."""
    started = []

    class Noted(subprocess.Popen):
        def __init__(self, *arguments, **options):
            super().__init__(*arguments, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Noted)
    return started


def test_what_the_manifest_says(tmp_path, writers):
    told = LuceneRetriever.build(Papers(PAPERS), tmp_path, ("title",), iter)
    # graph x 2, net; nothing; two characters, net; one long term
    assert (told["documents"], told["tokens"]) == (4, 7)
    assert (told["terms"], told["postings"]) == (5, 6)
    assert told["analyzer"] == "unicode-porter-2"
    assert told["fields"] == ["title"]
    assert told["lucene"].startswith("9.")
    assert told["jar"].startswith("anserini-1.")
    assert int(told["java"].split(".")[0]) >= 21
    assert [writer.poll() is None for writer in writers] == [False]
    engine = LuceneRetriever.open(tmp_path)
    for query, expected in (("graph", [0]), ("net", [0, 3]), ("度", [3]), (LONGEST, [4])):
        assert sorted(engine.search(query, 9, Scope(5)).documents.tolist()) == expected


def test_two_builds_give_the_same_bytes(tmp_path):
    source = SyntheticSource(SyntheticConfig(seed=3, papers=300, surveys=3))
    for name in ("first", "second"):
        build_corpus(source, tmp_path / name, engines=("bm25", "lucene"))
    first, second = contents(tmp_path / "first"), contents(tmp_path / "second")
    assert first == second
    names = {name for name in first if name.startswith("index/lucene/segment/")}
    assert any("segments_" in name for name in names)
    assert not any(name.endswith("write.lock") for name in names)
    assert not verify(tmp_path / "first")["problems"]
    corpus = arena.Corpus.open(tmp_path / "first")
    for title in list(corpus._store.titles)[:5]:
        native = {hit.id for hit in corpus.at("2015").search(title, 300)}
        lucene = {hit.id for hit in corpus.at("2015", retriever="lucene").search(title, 300)}
        assert native == lucene
        assert native


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_ends_the_writer(tmp_path, writers, error):
    def bar(papers):
        yield next(iter(papers))
        raise error

    with pytest.raises(error):
        LuceneRetriever.build(Papers(["graph"] * 3), tmp_path, ("title",), bar)
    assert [writer.poll() for writer in writers] == [-signal.SIGKILL]
    assert not any((tmp_path / "segment").glob("segments_*"))
