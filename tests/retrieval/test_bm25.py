"""BM25 against the reference in plain Python, to the last bit, and against bm25s."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from bm25_reference import double, reference
from helpers import Papers
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.retrieval import Request, Scope, bm25
from arena.retrieval.bm25 import BM25Retriever, _build, _kernel
from arena.text import analyze

# Words that stem together, a stop word, other scripts.
WORDS = ["graph", "graphs", "neural", "network", "the", "topic", "naïve", "深度", "x"]
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


def build(papers: list[str | None], directory: Path, **options: object) -> BM25Retriever:
    BM25Retriever.build(Papers(papers), directory, ("title",), lambda iterable, **_: iterable)
    return BM25Retriever.open(directory, **options)


@settings(max_examples=60, deadline=None)
@given(
    papers=st.lists(st.none() | texts, max_size=30),
    block=st.integers(1, 40),
    run=st.integers(1, 40),
    gathered=st.sampled_from([1, 2, 3, 64]),
)
def test_the_sizes_of_blocks_and_runs_leave_no_trace(papers, block, run, gathered):
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        build(papers, Path(directory) / "whole")
        patch.setattr(_build, "_BLOCK_TOKENS", block)
        patch.setattr(_build, "_RUN_TERMS", run)
        patch.setattr(_build, "_GATHERED", gathered)
        build(papers, Path(directory) / "blocks")
        whole, blocks = (
            {path.name: path.read_bytes() for path in (Path(directory) / name).iterdir()}
            for name in ("whole", "blocks")
        )
        assert whole == blocks


@settings(max_examples=100, deadline=None)
@given(
    terms=st.sets(st.text("abß深", min_size=1, max_size=4), max_size=40),
    words=st.lists(st.text("abß深", min_size=1, max_size=5), min_size=1, max_size=12),
)
def test_words_are_found_among_terms_that_begin_alike(terms, words):
    ordered = sorted(term.encode() for term in terms)
    strings = np.frombuffer(b"".join(ordered), np.uint8)
    offsets = np.cumsum([0, *map(len, ordered)])
    asked = np.frombuffer(" ".join(words).encode(), np.uint8)
    places = {term: place for place, term in enumerate(ordered)}
    expected = [places.get(word.encode(), -1) for word in words]
    assert _kernel.find(strings, offsets, asked, len(words)).tolist() == expected


def test_by_hand(tmp_path):
    # N = 3, avgdl = (2 + 1 + 3) / 3 = 2; "graph" is in documents 0 and 2, "x" only in 2.
    engine = build(["graph net", "net", "graph graph x"], tmp_path)
    documents, scores = engine.search("graph x", 10, Scope(3))
    idf_graph, idf_x = math.log(1 + 1.5 / 2.5), math.log(1 + 2.5 / 1.5)
    first = idf_graph * 2 / (2 + 0.9 * (0.6 + 0.4 * 1.5)) + idf_x / (1 + 0.9 * (0.6 + 0.4 * 1.5))
    second = idf_graph * 1 / (1 + 0.9 * 1.0)
    assert documents.tolist() == [2, 0]
    assert scores.tolist() == pytest.approx([first, second], rel=1e-14)


def test_a_term_frequency_over_a_byte_is_exact(tmp_path):
    papers = ["x " * 70_000 + "y", "y x", "y"]
    engine = build(papers, tmp_path)
    documents, scores = engine.search("x", 3, Scope(3))
    assert (documents.tolist(), scores.tolist()) == reference(papers, "x", 3, Scope(3))


def test_equals_bm25s(tmp_path):
    """Another implementation, over random documents, with the statistics of the whole corpus."""
    bm25s = pytest.importorskip("bm25s")
    rng = np.random.default_rng(0)
    vocabulary = [f"w{n}" for n in range(300)]
    weights = 1 / np.arange(1, 301)
    papers = [
        " ".join(rng.choice(vocabulary, rng.integers(5, 60), p=weights / weights.sum()))
        for _ in range(400)
    ]
    engine = build(papers, tmp_path, statistics="corpus")
    other = bm25s.BM25(method="lucene", k1=0.9, b=0.4, dtype="float64")
    other.index([analyze(paper) for paper in papers], show_progress=False)
    for _ in range(50):
        query = " ".join(rng.choice(vocabulary, 6))
        documents, scores = engine.search(query, 400, Scope(400))
        # bm25s keeps its scores in single precision, so ranks are compared through scores.
        expected = other.get_scores(analyze(query))
        np.testing.assert_allclose(scores, expected[documents], rtol=1e-5)
        assert set(np.flatnonzero(expected > 0)) == set(documents.tolist())


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    block=st.sampled_from([64, 128, 1024]),
    size=st.integers(1, 3000),
    k=st.sampled_from([1, 2, 10, 100, 700, 5000]),
    share=st.floats(0, 1),
    hidden=st.integers(0, 5),
)
def test_blocks_and_thresholds_leave_no_trace(seed, block, size, k, share, hidden):
    """Many documents with many equal scores, from terms in nearly all of them to terms in one."""
    rng = np.random.default_rng(seed)
    rates = np.array([0.9, 0.5, 0.1, 0.01, 0.001])
    holds = rng.random((size, 5)) < rates
    tfs = holds * rng.integers(1, 3, (size, 5))
    papers = [" ".join(f"t{t} " * tf for t, tf in enumerate(row)) for row in tfs]
    end = round(share * size)
    excluded = np.sort(rng.choice(end, min(hidden, end), replace=False))
    query = " ".join(f"t{t}" for t in range(5) if rng.random() < 0.6)
    scope = Scope(end, tuple(excluded.tolist()))
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(_kernel, "BLOCK", block)
        documents, scores = build(papers, Path(directory)).search(query, k, scope)
    assert (documents.tolist(), scores.tolist()) == reference(papers, query, k, scope)


@settings(max_examples=100, deadline=None)
@given(
    papers=st.lists(st.none() | texts, max_size=25),
    statistics=st.sampled_from(["cutoff", "corpus"]),
    parameters=st.sampled_from([(0.9, 0.4), (1.2, 0.75), (0.0, 0.0), (2.0, 1.0)]),
    room=st.sampled_from([1, 2, 100]),
    terms=st.sampled_from([2, 100]),
    data=st.data(),
)
def test_batches_and_single_searches_equal_plain_python(
    papers, statistics, parameters, room, terms, data
):
    """To the last bit, whatever is remembered from other searches or put out for want of room."""
    query = st.lists(st.sampled_from([*WORDS, "unknown", "zz"]), max_size=6).map(" ".join)
    asked = st.builds(
        lambda query, k, end, hidden: Request(
            query,
            k,
            Scope(end, tuple(n for n in sorted(hidden) if n < end and papers[n] is not None)),
        ),
        query,
        st.sampled_from([0, 1, 2, 3, 10, 40, 1000]),
        st.integers(0, len(papers)),
        st.sets(st.integers(0, 24), max_size=4),
    )
    requests = data.draw(st.lists(asked, min_size=1, max_size=8))
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(bm25, "_TABLE_ROWS", room)
        patch.setattr(bm25, "_TERMS", terms)
        patch.setattr("arena.retrieval.bm25._SCOPES", room)
        k1, b = parameters
        engine = build(papers, Path(directory), statistics=statistics, k1=k1, b=b)
        for limit in (10**9, 0):  # in one call, and in threads
            patch.setattr(bm25, "_THREADS_FROM", limit)
            batch = engine.search_batch(requests)
            again = [engine.search(*request) for request in requests]
            for request, *answers in zip(requests, batch, again, strict=True):
                documents, scores = reference(papers, *request, statistics, double(k1, b))
                for answer in answers:
                    assert answer.documents.dtype == np.int64
                    assert answer.documents.tolist() == documents
                    assert answer.scores.tobytes() == np.array(scores, np.float64).tobytes()
