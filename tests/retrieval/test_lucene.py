"""Lucene against the reference in float32, against an index of the prefix, and against bm25."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from bm25_reference import lucene, reference
from hypothesis import given, settings
from hypothesis import strategies as st
from lucene_helpers import Papers, build

from arena.retrieval import Scope
from arena.retrieval.bm25 import BM25Retriever
from arena.text import analyze
from arena_engines.retrievers.lucene import LuceneRetriever, _java

pytestmark = pytest.mark.slow  # Java

# Words that stem together, a stop word, other scripts, one beyond 16 bits.
WORDS = ["graph", "graphs", "neural", "network", "the", "topic", "naïve", "深度", "𐌰𐌱", "x"]
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
long_texts = st.tuples(texts, st.integers(0, 300)).map(lambda pair: pair[0] + pair[1] * " net")
scopes = st.tuples(st.integers(0, 30), st.sets(st.integers(0, 30), max_size=4))
parameters = st.sampled_from([(0.9, 0.4), (1.2, 0.75), (0.0, 0.0), (2.0, 1.0)])


def scope_of(papers: list[str | None], drawn: tuple[int, set[int]]) -> Scope:
    end = min(drawn[0], len(papers))
    return Scope(end, tuple(sorted(d for d in drawn[1] if d < end and papers[d] is not None)))


def single(score: float) -> float:
    return float(np.float32(score))


@settings(max_examples=60, deadline=None)
@given(
    papers=st.lists(st.none() | texts | long_texts, max_size=25),
    query=texts | st.just("") | st.just("unknown words only"),
    k=st.integers(1, 40),
    drawn=scopes,
    statistics=st.sampled_from(["cutoff", "corpus"]),
    parameters=parameters,
    segment_tokens=st.sampled_from([1, 30, 10**9]),
)
def test_equals_the_reference(papers, query, k, drawn, statistics, parameters, segment_tokens):
    """To the last bit, so the order of equal scores counts, too."""
    scope, (k1, b) = scope_of(papers, drawn), parameters
    with tempfile.TemporaryDirectory() as directory:
        engine = build(papers, Path(directory), segment_tokens, statistics=statistics, k1=k1, b=b)
        documents, scores = engine.search(query, k, scope)
        expected = reference(papers, query, k, scope, statistics, lucene(k1, b), single)
        assert (documents.tolist(), scores.tolist()) == expected
        assert (documents.dtype, scores.dtype) == (np.int64, np.float64)
        again = engine.search(query, k, scope)
        assert again.documents.tolist() == documents.tolist()
        assert again.scores.tobytes() == scores.tobytes()


def stock_lucene(directory: Path, terms: list[str], k: int) -> tuple[list[int], list[float]]:
    """Search as Lucene does by itself: its BM25, its statistics, all documents."""
    java = _java.start()
    lucene = java.lucene
    path = java("java.nio.file.Paths").get(str(directory / "segment"))
    reader = lucene("index.DirectoryReader").open(lucene("store.MMapDirectory")(path))
    searcher = lucene("search.IndexSearcher")(
        java.cast("org.apache.lucene.index.IndexReader", reader)
    )
    searcher.setSimilarity(lucene("search.similarities.BM25Similarity")(0.9, 0.4))
    builder = lucene("search.BooleanQuery$Builder")()
    for term in terms:
        query = lucene("search.TermQuery")(lucene("index.Term")("text", term))
        builder.add(query, lucene("search.BooleanClause$Occur").SHOULD)
    hits = list(searcher.search(builder.build(), k).scoreDocs)
    reader.close()
    return [hit.doc for hit in hits], [hit.score for hit in hits]


@settings(max_examples=40, deadline=None)
@given(
    papers=st.lists(texts | long_texts, max_size=25),
    later=st.lists(texts | long_texts, max_size=10),
    query=st.lists(st.sampled_from(["graph", "neural", "topic", "naïve", "x"]), unique=True),
)
def test_a_cutoff_equals_lucene_itself_over_the_prefix(papers, later, query):
    """Lucene's own searcher and similarity: only the writer of its index is ours."""
    papers = [paper for paper in papers if analyze(paper)]  # Lucene counts no others
    with tempfile.TemporaryDirectory() as directory:
        build(papers, Path(directory) / "prefix")
        documents, scores = stock_lucene(Path(directory) / "prefix", analyze(" ".join(query)), 30)
        engine = build(papers + later, Path(directory) / "whole")
        found = engine.search(" ".join(query), 30, Scope(len(papers)))
        assert found.documents.tolist() == documents
        assert found.scores.tolist() == scores


def assert_agree(engine, native, query, k, scope, rtol):
    """The scores agree rank by rank; papers differ only among those that score the same.

    The native engine takes all hits, so that its score of every paper is known.
    """
    documents, scores = engine.search(query, k, scope)
    other = native.search(query, scope.end, scope)
    native_score = dict(zip(other.documents.tolist(), other.scores.tolist(), strict=True))
    assert len(documents) == min(k, len(native_score))
    np.testing.assert_allclose(scores, other.scores[: len(scores)], rtol=rtol)
    np.testing.assert_allclose(scores, [native_score[d] for d in documents.tolist()], rtol=rtol)


@pytest.fixture(scope="module")
def zipf(tmp_path_factory):
    """20,000 papers of 5 to 39 terms: lists of many blocks, which Lucene skips through."""
    rng = np.random.default_rng(0)
    chances = 1 / np.arange(1, 2001)
    words = rng.choice(2000, (20_000, 39), p=chances / chances.sum())
    papers = [
        " ".join(f"w{word}" for word in row[:length])
        for row, length in zip(words, rng.integers(5, 40, 20_000), strict=True)
    ]
    directory = tmp_path_factory.mktemp("zipf")
    build(papers, directory / "lucene", segment_tokens=50_000)
    engine = LuceneRetriever.open(directory / "lucene")
    BM25Retriever.build(Papers(papers), directory / "bm25", ("title",), iter)
    return engine, BM25Retriever.open(directory / "bm25")


@pytest.mark.parametrize("end", [1, 127, 128, 129, 2000, 10_000, 20_000])
def test_agrees_with_bm25_where_lucene_skips(zipf, end):
    engine, native = zipf
    rng = np.random.default_rng(end)
    for k in (1, 10, 100, 20_000):
        for _ in range(8):
            query = " ".join(f"w{word}" for word in rng.integers(0, 2000, 8) // rng.integers(1, 99))
            excluded = tuple(np.unique(rng.integers(0, end, 3)).tolist()) if end > 3 else ()
            assert_agree(engine, native, query, k, Scope(end, excluded), 2e-6)


def test_lucene_keeps_the_order_of_documents_through_merges(tmp_path):
    papers = [f"word{n}" if n % 3 else None for n in range(2000)]
    engine = build(papers, tmp_path, segment_tokens=7)  # 190 segments, 50 at most in a merge
    for n in range(0, 2000, 13):
        found = engine.search(f"word{n}", 5, Scope(2000)).documents.tolist()
        assert found == ([n] if n % 3 else [])


def test_equal_scores_go_by_document(tmp_path):
    engine = build(["graph net", None, "net graph"] * 200, tmp_path, segment_tokens=101)
    everything = [n for n in range(600) if n % 3 != 1]
    for k in (1, 2, 64, 65, 399, 400, 10**6):
        documents, scores = engine.search("graph", k, Scope(600))
        assert documents.tolist() == everything[:k]
        assert len(set(scores.tolist())) == 1
    assert engine.search("graph", 3, Scope(600, (0, 3))).documents.tolist() == [2, 5, 6]
