"""Combined retrievers: their names, their options, and the fusion of rankings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from helpers import build_synthetic
from hypothesis import given, settings
from hypothesis import strategies as st

import arena
from arena.cli import main
from arena.errors import DataError
from arena.retrieval import (
    Ranking,
    Request,
    Retriever,
    Scope,
    parse_name,
)
from arena.retrieval.hybrid import Hybrid
from corpus_builder.index import build_index


@pytest.fixture(scope="module")
def titled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A synthetic corpus with two indexes: bm25 over all fields, and titles."""
    directory = build_synthetic(tmp_path_factory.mktemp("titled") / "corpus", 400, 4)
    build_index(directory, "bm25", name="titles", fields=["title"])
    return directory


# Names.


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (" bm25\n", "bm25"),
        (" hybrid ( bm25 ,\tdense ) ", "hybrid(bm25,dense)"),
        ("hybrid(a,hybrid(b,c),d)", "hybrid(a,hybrid(b,c),d)"),
        ("h(h(h(h(h(a,b),c),d),e),f)", "h(h(h(h(h(a,b),c),d),e),f)"),
    ],
)
def test_a_name_is_made_canonical(text: str, canonical: str) -> None:
    assert str(parse_name(text)) == canonical
    assert parse_name(canonical) == parse_name(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hybrid(bm25,dense", "a closing parenthesis is missing"),
        ("hybrid(bm25,)", "a name is missing"),
        ("hybrid(a,b(c,d)e)", "'e' stands where a comma or parenthesis should"),
        ("hybrid(h(a,b),h( a , b ))", "hybrid has the same part twice"),
        ("h(h(h(h(h(h(a,b),c),d),e),f),g)", "nested deeper than 5"),
    ],
    ids=lambda text: text[:20],
)
def test_a_malformed_name_says_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        parse_name(text)
    assert "Write it like hybrid(bm25,dense)." in str(caught.value)
    assert len(str(caught.value)) < 300


# Options, hashes, records.


def test_options_of_parts(titled: Path) -> None:
    corpus = arena.Corpus.open(titled)
    engine = corpus.retriever(
        "hybrid(bm25, hybrid(titles,bm25))",
        weights=[2, 1],
        bm25={"statistics": "corpus"},
        **{"hybrid( titles, bm25 )": {"k": 0, "titles": {"b": 0}}},
    )
    whole = {"statistics": "corpus", "k1": 0.9, "b": 0.4}
    assert engine.config == {
        "k": 60.0,
        "weights": [2.0, 1.0],
        "depth": 1000,
        "bm25": engine.parts[0].config,
        "hybrid(titles,bm25)": engine.parts[1].config,
    }
    assert engine.parts[0].config.items() >= whole.items()
    inner = engine.parts[1]
    assert (inner.config["k"], inner.config["titles"]["b"]) == (0.0, 0.0)
    assert inner.config["bm25"]["statistics"] == "cutoff"
    # What a run records opens the same engine again.
    again = arena.Corpus.open(titled).retriever("hybrid(bm25,hybrid(titles,bm25))", **engine.config)
    assert again.config == engine.config


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"wieghts": [1, 2]}, "hybrid has no option 'wieghts'. Did you mean 'weights'"),
        ({"bm25": 3}, "bm25=3: the options of a part are given as a mapping"),
        ({"k": -1}, "k=-1: give a number from 0"),
        ({"weights": [1]}, "give a list of 2 numbers, one for each of bm25, titles"),
    ],
)
def test_bad_options(titled: Path, options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        arena.Corpus.open(titled).retriever("hybrid(bm25,titles)", **options)


def test_runs_and_environments(titled: Path, tmp_path: Path, capsys: Any) -> None:
    line = ["run", "--corpus", str(titled), "--task", "discovery", "--agent", "title",
            "--retriever", "hybrid( bm25, titles )", "--retriever-option", 'titles={"b": 0}',
            "--retriever-option", "weights=[1, 3]", "--output", str(tmp_path / "run")]  # fmt: skip
    assert main(line) == 0
    manifest = json.loads((tmp_path / "run/manifest.json").read_text())
    corpus = arena.Corpus.open(titled)
    engine = corpus.retriever("hybrid(bm25,titles)", weights=[1, 3], titles={"b": 0})
    assert manifest["retriever"] == "hybrid(bm25,titles)"
    assert manifest["retriever_options"] == json.loads(json.dumps(engine.config))
    assert manifest["sha256"]["index"] == corpus.index_sha256("hybrid(bm25,titles)")
    summary = arena.run(
        titled, "discovery", "title", tmp_path / "run", retriever="hybrid(bm25,titles)",
        retriever_options={"weights": [1, 3], "titles": {"b": 0}},
    )  # fmt: skip
    assert summary["retriever"] == "hybrid(bm25,titles)"  # the same run, however it was written
    env = gymnasium.make("arena/Discovery-v0", corpus=titled, retriever="hybrid(bm25,titles)")
    env.reset(seed=1)
    observation, *_ = env.step({"tool": "search", "arguments": {"query": "membrane", "k": 3}})
    assert len(json.loads(observation["result"])["hits"]) == 3
    capsys.readouterr()
    assert main(["list", "retrievers", "--corpus", str(titled), "--json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert {"bm25", "hybrid"} <= set(listed["retrievers"])
    assert listed["indexes"]["titles"] == "titles (bm25) over title"


# Fusion.


class Stub(Retriever):
    """Finds what it was given: (document, score), best first, inside the scope."""

    config: dict[str, Any] = {}  # noqa: RUF012

    def __init__(self, hits: Sequence[tuple[int, float]]) -> None:
        self.hits, self.batches = hits, 0

    @classmethod
    def build(cls, source: Any, directory: Any, fields: Any, progress: Any, **options: Any) -> Any:
        raise NotImplementedError

    @classmethod
    def open(cls, directory: Path, **options: Any) -> Stub:
        raise NotImplementedError

    def search(self, query: str, k: int, scope: Scope) -> Ranking:
        hits = [h for h in self.hits if h[0] < scope.end and h[0] not in scope.excluded][:k]
        return Ranking(
            np.array([document for document, _ in hits], np.int64),
            np.array([score for _, score in hits], np.float64),
        )

    def search_batch(self, requests: Sequence[Request]) -> list[Ranking]:
        self.batches += 1
        return super().search_batch(requests)


def hybrid(*parts: Sequence[tuple[int, float]], **options: Any) -> Hybrid:
    return Hybrid({f"part{n}": Stub(hits) for n, hits in enumerate(parts)}, **options)


def test_reciprocal_rank_fusion_by_hand() -> None:
    engine = hybrid([(5, 9.0), (2, 7.0), (7, 1.0)], [(2, 0.3), (9, 0.2)])
    documents, scores = engine.search("x", 10, Scope(100))
    # 2: 1/62 + 1/61; 5: 1/61; 9: 1/62; 7: 1/63
    assert documents.tolist() == [2, 5, 9, 7]
    expected = [123 / 3782, 1 / 61, 1 / 62, 1 / 63]
    assert scores.tolist() == pytest.approx(expected, rel=1e-15)
    assert documents.dtype == np.int64 and scores.dtype == np.float64
    # k = 0 and weights 3 and 1: 5: 3; 2: 3/2 + 1; 7: 1; 9: 1/2
    engine = hybrid([(5, 9.0), (2, 7.0), (7, 1.0)], [(2, 0.3), (9, 0.2)], k=0, weights=[3, 1])
    documents, scores = engine.search("x", 3, Scope(100))
    assert documents.tolist() == [5, 2, 7]
    assert scores.tolist() == [3.0, 2.5, 1.0]


def test_equal_sums_are_equal_to_the_last_bit() -> None:
    """Ranks 1, 2, 3 in another order of parts: the lower number comes first."""
    orders = [[3, 1, 2], [1, 2, 3], [2, 3, 1]]  # of documents, by part
    engine = hybrid(*([(d, -float(r)) for r, d in enumerate(order)] for order in orders))
    documents, scores = engine.search("x", 3, Scope(9))
    assert documents.tolist() == [1, 2, 3]
    assert len(set(scores.tolist())) == 1


rankings = st.lists(
    st.dictionaries(st.integers(0, 15), st.sampled_from([-2.0, 0.0, 0.1, 1 / 3, 7.0]), max_size=12),
    min_size=2,
    max_size=4,
).map(lambda parts: [sorted(part.items(), key=lambda hit: (-hit[1], hit[0])) for part in parts])


def oracle(
    parts: list[list[tuple[int, float]]],
    scope: Scope,
    weights: list[int],
    depth: int,
    smoothing: int,
) -> list[tuple[int, Fraction]]:
    """Every sum in exact arithmetic, from the definition."""
    sums: dict[int, Fraction] = {}
    for part, weight in zip(parts, weights, strict=True):
        seen = [h for h in part if h[0] < scope.end and h[0] not in scope.excluded]
        seen = seen[:depth]
        for rank, (document, _) in enumerate(seen, 1):
            sums[document] = sums.get(document, Fraction(0)) + Fraction(weight, smoothing + rank)
    return sorted(sums.items(), key=lambda item: (-item[1], item[0]))


@settings(max_examples=100, deadline=None)
@given(data=st.data(), parts=rankings, k=st.integers(1, 20), depth=st.integers(1, 15))
def test_equals_the_oracle(data: Any, parts: Any, k: int, depth: int) -> None:
    weights = data.draw(st.lists(st.integers(1, 3), min_size=len(parts), max_size=len(parts)))
    end = data.draw(st.integers(0, 16))
    excluded = data.draw(st.sets(st.integers(0, 15), max_size=3))
    scope = Scope(end, tuple(sorted(d for d in excluded if d < end)))
    smoothing = data.draw(st.integers(0, 60))
    engine = hybrid(*parts, weights=weights, depth=depth, k=smoothing)
    documents, scores = engine.search("x", k, scope)
    expected = oracle(parts, scope, weights, max(depth, k), smoothing)
    exact = dict(expected)
    assert len(documents) == min(k, len(expected)) == len(set(documents.tolist()))
    assert scores.tolist() == pytest.approx(
        [float(exact[d]) for d in documents.tolist()], rel=1e-14, abs=1e-15
    )
    # The same order, but where exact sums lie closer than float64 can tell.
    for got, (document, value) in zip(documents.tolist(), expected, strict=False):
        assert got == document or abs(exact[got] - value) <= Fraction(1, 10**14)
    order = list(zip((-scores).tolist(), documents.tolist(), strict=True))
    assert order == sorted(order)
    assert scope.end > max(documents.tolist(), default=-1)
    assert not set(scope.excluded) & set(documents.tolist())


@settings(max_examples=100, deadline=None)
@given(parts=rankings, data=st.data())
def test_a_batch_is_its_searches_and_asks_each_part_once(parts: Any, data: Any) -> None:
    requests = data.draw(
        st.lists(
            st.builds(
                Request, st.just("x"), st.integers(0, 20), st.builds(Scope, st.integers(0, 16))
            )
        )
    )
    engine = hybrid(*parts, depth=5)
    batch = engine.search_batch(requests)
    assert [part.batches for part in engine.parts] == [1] * len(parts)
    assert len(batch) == len(requests)
    for request, ranking in zip(requests, batch, strict=True):
        alone = engine.search(*request)
        assert ranking.documents.tolist() == alone.documents.tolist()
        assert ranking.scores.tobytes() == alone.scores.tobytes()
