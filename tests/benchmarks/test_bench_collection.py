"""The collections that the benchmark searches."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow.parquet as pq
import pytest
from helpers import contents

from arena.errors import DataError
from arena.text import analyze
from benchmarks import synthetic as texts_of
from benchmarks import vectors as made_vectors
from benchmarks.collection import DatedTexts, from_corpus, searchable, synthetic


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    directory = tmp_path_factory.mktemp("made") / "collection"
    synthetic(directory, 1500, 20, seed=3)
    return DatedTexts(directory)


def recount(collection: DatedTexts) -> list[Counter[str]]:
    return [Counter(text.split()) for _, text in collection.texts()]


def test_the_numbers_told_are_those_of_the_texts(made):
    bags = recount(made)
    assert made.documents == len(bags) == 1500
    assert made.about["tokens"] == sum(bag.total() for bag in bags)
    assert made.about["postings"] == sum(map(len, bags))
    assert made.lengths.tolist() == [bag.total() for bag in bags]
    for query in made.queries:
        assert query.text.split() == [texts_of.word(term) for term in query.terms]
        for term in query.terms:
            docs, tfs = made.postings(term)
            held = [(n, bag[f"t{term}"]) for n, bag in enumerate(bags) if bag[f"t{term}"]]
            assert list(zip(docs.tolist(), tfs.tolist(), strict=True)) == held
    held = [sum(f"t{t}" in bag for bag in bags[:700] for t in q.terms) for q in made.queries]
    assert made.mean_postings(700) == pytest.approx(np.mean(held))


def test_a_query_is_eight_words_of_one_document(made):
    bags = recount(made)
    for query in made.queries:
        words = set(query.text.split())
        assert len(words) == 8
        assert any(words <= set(bag) for bag in bags)


def test_an_analyzer_leaves_the_words_as_they_are(made):
    _, text = next(made.texts())
    assert analyze(text) == text.split()


def test_a_cutoff_parts_the_days(made):
    assert made.end(100) == 1500
    for percent in (0.1, 1, 33, 50, 99.9):
        end = made.end(percent)
        assert (made.days[:end] < made.days[end]).all()
        assert (np.diff(made.days[end:]) >= 0).all()
        assert end <= 1500 * percent / 100


def test_the_same_seed_gives_the_same_bytes(tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        synthetic(tmp_path / name, 300, 5, seed)
        made_vectors.write_vectors(DatedTexts(tmp_path / name))
    assert contents(tmp_path / "a") == contents(tmp_path / "b")
    assert contents(tmp_path / "a")["texts.txt"] != contents(tmp_path / "c")["texts.txt"]


def test_words_are_as_frequent_as_in_titles_with_abstracts():
    """Measured on 29,168 real ones: see the module."""
    counts, total, distinct, lengths = np.zeros(texts_of.VOCABULARY, int), 0, 0, []
    for tokens, sizes in texts_of.blocks(5000, 0):
        counts += np.bincount(tokens, minlength=len(counts))
        total, lengths = total + len(tokens), [*lengths, *sizes]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        distinct += len(np.unique(owner * len(counts) + tokens))
    assert np.mean(lengths) == pytest.approx(154, rel=0.02)
    assert np.std(np.log(lengths)) == pytest.approx(0.36, abs=0.02)
    assert distinct / total == pytest.approx(0.66, abs=0.04)
    share = np.sort(counts)[::-1] / total * 100
    for rank, real in ((10, 0.598), (30, 0.305), (100, 0.164), (300, 0.0711), (1000, 0.0190)):
        assert real / 2 < share[rank - 1] < real * 2


def test_topics_clump_and_change():
    ((tokens, lengths),) = list(texts_of.blocks(1, 0))
    assert len(tokens) == lengths[0]
    blocks = [np.bincount(tokens, minlength=30_000) for tokens, _ in texts_of.blocks(5000, 1)]
    early, late = sum(b[:30_000] for b in blocks[:10]), sum(b[:30_000] for b in blocks[-10:])
    even, odd = sum(b[:30_000] for b in blocks[::2]), sum(b[:30_000] for b in blocks[1::2])
    assert np.corrcoef(early[500:], late[500:])[0, 1] < np.corrcoef(even[500:], odd[500:])[0, 1]


def test_papers_of_a_corpus(world, tmp_path):
    rows = [p for p in pq.read_table(world / "papers.parquet").to_pylist() if p["searchable"]]
    titles = pq.read_table(world / "tasks/surveys.parquet")["title"].to_pylist()
    assert searchable(world) == len(rows)
    from_corpus(tmp_path / "c", world, 200, len(titles) + 5, seed=0)
    made = DatedTexts(tmp_path / "c")
    texts = [f"{row['title']} {row['abstract']}".replace("\n", " ") for row in rows[:200]]
    assert [text for _, text in made.texts()] == texts
    asked = [query.text for query in made.queries]
    assert asked[: len(titles)] == titles
    assert set(asked[len(titles) :]) <= {row["title"] for row in rows[:200]}
    bags = [Counter(analyze(text)) for text in texts]
    for query in made.queries:
        for term, number in zip(analyze(query.text), query.terms, strict=True):
            docs, tfs = made.postings(number)
            held = [(n, bag[term]) for n, bag in enumerate(bags) if bag[term]]
            assert list(zip(docs.tolist(), tfs.tolist(), strict=True)) == held
    epoch = np.datetime64("1970-01-01")
    assert (epoch + made.days).astype(str).tolist() == [str(row["date"]) for row in rows[:200]]
    with pytest.raises(DataError, match=f"has {len(rows)} searchable papers"):
        from_corpus(tmp_path / "d", world, len(rows) + 1, 5, seed=0)


def test_vectors_follow_from_the_text_alone():
    texts = ["one", "two", "three"]
    vectors = made_vectors.vectors_of(texts)
    assert vectors.shape == (3, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    assert made_vectors.vectors_of(["two"])[0].tobytes() == vectors[1].tobytes()
    assert np.abs(vectors @ vectors.T - np.eye(3)).max() < 0.5
    assert made_vectors.query_vectors(["three"])[0].tobytes() == vectors[2].tobytes()
