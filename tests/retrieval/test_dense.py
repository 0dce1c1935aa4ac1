"""Flat search against whole numbers: exact, whichever way it is computed."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from dense_helpers import (  # noqa: F401 - a fixture among them
    Numbers,
    Papers,
    build,
    built,
    every_way,
    numbers,
    oracle,
    plain,
    same,
    text_of,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from arena.retrieval import Request, Scope
from arena.retrieval.dense import Dense

pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("numbers")
fixture_once = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

# Few values, so that there are ties, twins, zero vectors, and subnormal float16 components.
component = st.sampled_from([-1.0, -0.5, 0.0, 0.0, 0.3, 1.0, 1e-6, 3.0])
vector = st.tuples(component, component, component).map(text_of)
twin = st.sampled_from([text_of(v) for v in ((1, 1, 0), (2, 2, 0), (1, 0.5, 0), (-1, 0, 1))])
paper = st.one_of(twin, twin, vector, vector, st.none(), st.just(" \n"))
papers_ = st.lists(paper, min_size=1, max_size=40)
depth = st.integers(1, 6) | st.integers(1, 50)


def some_end(data: st.DataObject, papers: list[str | None]) -> int:
    return max(0, len(papers) - data.draw(st.integers(0, 10) | st.integers(0, 40)))


@settings(fixture_once, max_examples=100)
@given(papers=papers_, query=twin | vector, k=depth, data=st.data())
def test_equals_whole_numbers(papers, query, k, data):
    end = some_end(data, papers)
    candidates = [n for n, text in enumerate(papers[:end]) if text is not None]
    excluded = data.draw(st.sets(st.sampled_from(candidates), max_size=4)) if candidates else set()
    with tempfile.TemporaryDirectory() as directory:
        engine = built(papers, Path(directory))
        found = every_way(engine, query, k, Scope(end, tuple(sorted(excluded))))
        encoded = engine._queries.get(query)
        expected = [] if encoded is None else oracle(Path(directory), encoded, k, end, excluded)
        assert list(zip(found.documents.tolist(), found.scores.tolist(), strict=True)) == expected


def near(rows: int, dimension: int, spread: float) -> np.ndarray:
    """Vectors so close to each other that float32 confuses their order."""
    rng = np.random.default_rng(rows)
    middle = rng.standard_normal(dimension)
    return middle + spread * rng.standard_normal((rows, dimension))


@pytest.mark.parametrize(("rows", "dimension", "spread"), [(4000, 48, 2e-3), (2000, 384, 1e-3)])
def test_float32_confuses_the_order_and_the_search_does_not(tmp_path, rows, dimension, spread):
    """At every depth the right row is the last one in, though float32 would often drop it."""
    vectors = near(rows + 1, dimension, spread)
    engine = built([text_of(v) for v in vectors[:-1]], tmp_path, dimension=dimension)
    query = text_of(vectors[-1])
    encoded = engine._queries.get(query)
    stored = np.load(tmp_path / "vectors.npy")
    rough = stored.astype(np.float32) @ encoded.astype(np.float32)
    expected = oracle(tmp_path, encoded, rows, rows)
    by_rough = np.lexsort((np.arange(rows), -rough)).tolist()
    depths = [k for k in range(1, rows) if by_rough[k - 1] != expected[k - 1][0]]
    assert len(depths) > rows / 10
    for k in depths[:: len(depths) // 60]:
        found = every_way(engine, query, k, Scope(rows))
        assert (
            list(zip(found.documents.tolist(), found.scores.tolist(), strict=True))
            == (expected[:k])
        )


def test_by_hand(tmp_path):
    engine = built(["1 0 0", None, "0 2 0", " ", "3 4 0", "-1 0 0"], tmp_path)
    documents, scores = engine.search("2 0 0", 10, Scope(6))
    assert documents.tolist() == [0, 4, 2, 3, 5]
    assert scores.tolist() == [1.0, float(np.float16(0.6)), 0.0, 0.0, -1.0]
    assert engine.search("2 0 0", 2, Scope(6, (0,))).documents.tolist() == [4, 2]
    assert engine.search("2 0 0", 10, Scope(4)).documents.tolist() == [0, 2, 3]


@pytest.mark.parametrize("query", ["", " \n\t", "0 0 0"])
def test_a_query_without_anything_finds_nothing(tmp_path, query):
    engine = built(["1 0 0", " "], tmp_path)
    for ranking in (engine.search(query, 5, Scope(2)), *engine.search_batch([])):
        assert ranking.documents.tolist() == []
        assert ranking.documents.dtype == np.int64
        assert ranking.scores.dtype == np.float64


def test_the_ends_of_what_can_be_asked(tmp_path):
    engine = built([None, "1 0 0", "0 1 0"], tmp_path)
    assert engine.search("1 0 0", 0, Scope(3)).documents.tolist() == []
    assert engine.search("1 0 0", 10**15, Scope(3)).documents.tolist() == [1, 2]
    assert engine.search("1 0 0", 5, Scope(10**15)).documents.tolist() == [1, 2]
    assert engine.search("1 0 0", 5, Scope(0)).documents.tolist() == []
    assert engine.search("1 0 0", 5, Scope(1)).documents.tolist() == []
    assert engine.search("1 0 0", 5, Scope(3, (1, 2))).documents.tolist() == []
    empty = built([None, None], tmp_path / "empty")
    assert empty.search("1 0 0", 5, Scope(2)).documents.tolist() == []
    every_way(empty, "1 0 0", 5, Scope(2))


def test_without_options_the_static_encoder_is_used(tmp_path):
    papers = ["Coral reefs and warm seas", "Compilers for tensor programs", None, "Reef fish"]
    Dense.build(Papers(papers), tmp_path, ("title",), plain)
    engine = Dense.open(tmp_path)
    assert engine.search("reefs", 2, Scope(4)).documents.tolist() == [3, 0]
    assert engine.config["encoder"]["name"] == "static"
    long = engine.search("reef fish " * 10_000, 4, Scope(4))
    assert long.documents.tolist()[0] == 3
    lone = engine.search("reef \ud800", 4, Scope(4))
    assert same(lone, engine.search("reef \ufffd", 4, Scope(4)))


@pytest.mark.parametrize("cache", [0, 1, 100])
def test_queries_of_a_batch_are_encoded_together_where_an_encoder_says_so(
    tmp_path, monkeypatch, cache
):
    asked, queries = [], Numbers.queries
    monkeypatch.setattr(
        Numbers, "queries", lambda self, texts: asked.append(texts) or queries(self, texts)
    )
    build(["1 0 0", "0 1 0"], tmp_path)
    texts = ["1 2 0", " ", "2 1 0", "1 2 0", "0 0 0"]
    batch = [Request(text, 2, Scope(2)) for text in texts]
    alone = Dense.open(tmp_path, cache=cache).search_batch(batch)
    assert asked == [["1 2 0"], ["2 1 0"], ["0 0 0"]]
    assert [each.documents.tolist() for each in alone] == [[1, 0], [], [0, 1], [1, 0], []]
    monkeypatch.setattr(Numbers, "together", True, raising=False)
    asked.clear()
    together = Dense.open(tmp_path, cache=cache).search_batch(batch)
    assert asked == [["1 2 0", "2 1 0", "0 0 0"]]
    for one, other in zip(together, alone, strict=True):
        assert one.scores.tobytes() == other.scores.tobytes()
    Dense.open(tmp_path).search_batch(
        [Request("1 0 0", 2, Scope(0)), Request("1 0 0", 0, Scope(2))]
    )
    assert len(asked) == 1  # nothing can be found
