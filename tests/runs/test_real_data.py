"""The main job on 29,168 real papers and 76 real surveys; skipped where they are absent."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import arena
from arena.text import analyze

bm25s = pytest.importorskip("bm25s")


@pytest.fixture(scope="module")
def papers(real_data, real_corpus: Path):
    """(document number, resolved day, tokens) of every searchable paper, read without the view."""
    import pyarrow.parquet as pq

    rows = pq.read_table(real_corpus / "papers.parquet").to_pylist()
    return [
        (number, row["date"].isoformat(), analyze(f"{row['title']}\n{row['abstract']}"))
        for number, row in enumerate(rows)
        if row["searchable"]
    ]


def bm25s_scores(texts: list[list[str]], queries: list[str]) -> list[np.ndarray]:
    """Scores of another implementation with the same tokens, k1 and b."""
    engine = bm25s.BM25(method="lucene", k1=0.9, b=0.4, dtype="float64")
    engine.index(texts, show_progress=False)
    return [engine.get_scores(analyze(query)) for query in queries]


def assert_same_top(hits: list[arena.Hit], ids: list[str], scores: np.ndarray, k: int) -> None:
    """The same top k, ties aside: papers above the last score are the same, scores are equal."""
    number = {paper_id: n for n, paper_id in enumerate(ids)}
    theirs = np.sort(scores)[::-1][:k]
    assert len(hits) == min(k, int((scores > 0).sum()))
    np.testing.assert_allclose([hit.score for hit in hits], theirs[: len(hits)], rtol=1e-5)
    last = theirs[len(hits) - 1] * (1 + 1e-5)
    above = {ids[n] for n in np.flatnonzero(scores > last)}
    assert above <= {hit.id for hit in hits}
    assert all(scores[number[hit.id]] >= theirs[len(hits) - 1] * (1 - 1e-5) for hit in hits)


@pytest.mark.slow
def test_all_titles_against_bm25s_with_corpus_statistics(real_data, real_corpus, papers):
    corpus = arena.Corpus.open(real_corpus)
    titles = [topic["title"].lower() for topic in real_data.read().surveys]
    assert len(titles) == 76
    view = corpus.at("9999", retriever=corpus.retriever("bm25", statistics="corpus"))
    ids = [corpus._store.ids[number] for number, _, _ in papers]
    for title, scores in zip(
        titles, bm25s_scores([text for *_, text in papers], titles), strict=True
    ):
        assert_same_top(view.search(title, 100), ids, scores, 100)


@pytest.mark.slow
def test_titles_at_their_cutoff_against_bm25s_over_the_visible_papers(
    real_data, real_corpus, papers
):
    """Statistics of the day: bm25s indexes only what existed before each topic."""
    corpus = arena.Corpus.open(real_corpus)
    topics = sorted(real_data.read().surveys, key=lambda s: (s["date"], s["id"]))
    for topic in topics[:: len(topics) // 5]:
        view = corpus.at(topic["date"], exclude=[topic["id"]])
        visible = [(number, text) for number, day, text in papers if day < view.cutoff]
        ids = [corpus._store.ids[number] for number, _ in visible]
        (scores,) = bm25s_scores([text for _, text in visible], [topic["title"].lower()])
        assert_same_top(view.search(topic["title"].lower(), 100), ids, scores, 100)


def test_the_title_baseline(real_data, real_corpus, tmp_path):
    """Every topic is reported; the ones without a reachable reference are counted, not scored."""
    summary = arena.run(real_corpus, "discovery", "title", tmp_path / "title")
    assert summary["counts"]["topics"] == 76
    assert summary["counts"]["scored"] == 74
    unscored = [s for s, entry in summary["per_topic"].items() if not entry["gold"]]
    assert unscored == ["reportbench:2101.01507", "reportbench:2204.10325"]  # they list none
    assert 0.3 < summary["mean"]["recall@100"] < summary["ceiling"]["recall@100"] < 1
    best = arena.run(real_corpus, "discovery", "oracle", tmp_path / "oracle")
    assert best["mean"] == best["ceiling"] == summary["ceiling"]
