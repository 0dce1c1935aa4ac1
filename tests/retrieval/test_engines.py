"""One battery for every search engine: dated, exact, deterministic, with any text as a query."""

from __future__ import annotations

import calendar
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from helpers import Memory, build_synthetic
from test_no_future import check_views, synthetic_facts

import arena
from arena.retrieval import RETRIEVERS, Combiner, Request, Scope
from corpus_builder.build import build
from corpus_builder.index import build_index
from corpus_builder.synthetic import SyntheticConfig, SyntheticCorpus

ENGINES = ("bm25", "lucene", "dense", "ivf")
WITHOUT_JAVA = ("bm25", "dense", "ivf")
WITH_TORCH = pytest.mark.skipif(find_spec("torch") is None, reason="the extra gpu is not installed")
NAMES = [
    *WITHOUT_JAVA,
    "hybrid(bm25,dense)",
    pytest.param("gpu(dense)", marks=WITH_TORCH),
    pytest.param("lucene", marks=pytest.mark.slow),
    pytest.param("hybrid(bm25,lucene,dense)", marks=pytest.mark.slow),
]
CUTOFFS = ("2006-07-01", "2011-03-31")
QUERIES = ("membrane", "selective membrane erosion in knots", "lattice of the", "a seepage")


def test_no_engine_is_left_out():
    names = (n for n in RETRIEVERS.names() if not issubclass(RETRIEVERS.get(n), Combiner))
    assert set(ENGINES) == set(names)
    combiners = {n for n in RETRIEVERS.names() if issubclass(RETRIEVERS.get(n), Combiner)}
    combined = {str(getattr(name, "values", [name])[0]).partition("(")[0] for name in NAMES}
    assert combiners - combined == {"ray"}  # test_ray_search.py, on a cluster


@pytest.fixture(scope="session")
def everything(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The synthetic corpus of conftest.py with an index of every engine."""
    place = tmp_path_factory.mktemp("everything") / "corpus"
    return build_synthetic(place, 600, 8, engines=WITHOUT_JAVA)


@pytest.fixture(scope="session", params=CUTOFFS)
def cut_off(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """A cutoff, and a corpus of the papers before it alone: the future was never built."""
    made = SyntheticCorpus(SyntheticConfig(seed=7, papers=600, surveys=8))
    past = [paper for paper in made.papers() if day_of(paper["date"]) < request.param]
    directory = tmp_path_factory.mktemp("past") / "corpus"
    build(Memory(past, list(made.surveys())), directory, engines=WITHOUT_JAVA)
    return request.param, directory


@pytest.fixture
def name(request: pytest.FixtureRequest, everything: Path) -> str:
    """An engine or a combination; the index of Lucene is built for the first test that wants it."""
    if "lucene" in request.param:
        corpora = [everything]
        if "cut_off" in request.fixturenames:
            corpora.append(request.getfixturevalue("cut_off")[1])
        for corpus in corpora:
            if not (corpus / "index" / "lucene").exists():
                build_index(corpus, "lucene")
    return request.param


def day_of(date: str | None) -> str:
    """The day that counts, by the rule of ResearchArena section 3.2; never, if there is none."""
    if date is None:
        return "9999"
    if len(date) == 4:
        return f"{date}-12-31"
    if len(date) == 7:
        return f"{date}-{calendar.monthrange(int(date[:4]), int(date[5:]))[1]}"
    return date


@pytest.mark.parametrize("name", NAMES, indirect=True)
def test_the_past_alone_gives_the_same_ids_and_scores(everything, cut_off, name):
    cutoff, past = cut_off
    whole = arena.Corpus.open(everything).at(cutoff, retriever=name)
    alone = arena.Corpus.open(past).at("2999", retriever=name)
    assert len(whole) == len(alone) > 20
    hidden = [hit.id for hit in whole.search(QUERIES[0], 3)]
    for exclude in ([], hidden):
        whole = arena.Corpus.open(everything).at(cutoff, exclude=exclude, retriever=name)
        alone = arena.Corpus.open(past).at("2999", exclude=exclude, retriever=name)
        for query in QUERIES:
            for k in (1, 10, 1000):
                assert whole.search(query, k) == alone.search(query, k)


@pytest.mark.parametrize("name", NAMES, indirect=True)
def test_random_cutoffs(everything, name, monkeypatch):
    """As in test_no_future.py, with the engine's own answers: the view does not check them here."""
    monkeypatch.setattr("arena.corpus.view._in_scope", lambda *_: True)
    corpus = arena.Corpus.open(everything)
    engine = corpus.retriever(name)
    at = corpus.at
    monkeypatch.setattr(corpus, "at", lambda *args, **more: at(*args, **more, retriever=engine))
    assert check_views(corpus, *synthetic_facts(), 60) > 500


def requests(end: int) -> Iterator[Request]:
    for number, query in enumerate((*QUERIES, "", "zzzz")):
        for k in (0, 1, 7, 10_000):
            for part in (0, 1, end // 3, end):
                yield Request(query, k, Scope(part))
                if part > 20:
                    yield Request(query, k, Scope(part, (1, 2, number + 3)))


@pytest.mark.parametrize("name", NAMES, indirect=True)
def test_a_batch_a_thread_and_a_second_opening_give_the_same_bytes(everything, name):
    corpus = arena.Corpus.open(everything)
    engine = corpus.retriever(name)
    searchable = corpus._store.searchable_before
    end = int(np.searchsorted(corpus._store.days, 2**31 - 1))
    asked = [
        request._replace(
            scope=request.scope._replace(
                excluded=tuple(
                    d for d in request.scope.excluded if searchable[d + 1] > searchable[d]
                )
            )
        )
        for request in requests(end)
    ]
    single = [engine.search(*request) for request in asked]
    again = arena.Corpus.open(everything).retriever(name)
    with ThreadPoolExecutor(4) as pool:
        threaded = list(pool.map(lambda request: again.search(*request), asked))
    for request, one, other, batched in zip(
        asked, single, threaded, engine.search_batch(asked), strict=True
    ):
        for answer in (other, batched):
            assert answer.documents.tolist() == one.documents.tolist()
            assert answer.scores.tobytes() == one.scores.tobytes()
        documents = one.documents.tolist()
        assert len(set(documents)) == len(documents) <= request.k
        assert all(0 <= d < request.scope.end for d in documents)
        assert not set(documents) & set(request.scope.excluded)
        assert all(searchable[d + 1] > searchable[d] for d in documents)
        order = sorted(zip(-one.scores, documents, strict=True))
        assert [d for _, d in order] == documents
        assert np.isfinite(one.scores).all()
        # A shorter list is the beginning of a longer one.
        shorter = engine.search(request.query, request.k // 2, request.scope)
        assert shorter.documents.tolist() == documents[: len(shorter.documents)]
    assert threading.active_count() < 50


@pytest.mark.parametrize("name", NAMES, indirect=True)
@pytest.mark.parametrize(
    "query",
    ["", "   \n\t", "the of and", "zzqqy xxyyq", "\x00\x01", "\ud800", "é" * 100_000,
     "membrane " * 11_000, " ".join(f"w{n}" for n in range(20_000)),
     '"(zq:xv OR * ~]^ \\', "😀🏳️‍🌈"],
    ids=range(11),
)  # fmt: skip
def test_any_text_is_a_query(everything, name, query):
    view = arena.Corpus.open(everything).at("2012", retriever=name)
    hits = view.search(query, 5)
    assert len(hits) <= 5
    if not query.strip():
        assert hits == []
    if name in ("bm25", "lucene"):
        assert bool(hits) == ("membrane" in query)
    assert view.search(query, 0) == []
    assert arena.Corpus.open(everything).at("1700", retriever=name).search(query, 5) == []


@pytest.mark.parametrize("name", NAMES, indirect=True)
def test_episodes_and_runs_work(everything, name, tmp_path):
    summary = arena.run(
        everything, "discovery", "title", tmp_path / "one", topics=3, retriever=name
    )
    assert summary["mean"]["recall@100"] > 0.1
    again = arena.run(everything, "discovery", "title", tmp_path / "two", topics=3, retriever=name)
    assert summary == again
    for file in ("run.trec", "metrics.json", "trajectories.jsonl", "manifest.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


@pytest.mark.parametrize("name", NAMES, indirect=True)
@pytest.mark.parametrize("seed", range(5))
def test_later_exclusions_change_nothing(everything, seed, name):
    """Excluding what is not visible anyway leaves every score as it is."""
    rng = random.Random(seed)
    corpus = arena.Corpus.open(everything)
    cutoff = rng.choice(("2006-07-01", "2008", "2011-03"))
    later = [hit.id for hit in corpus.at("2999").search("membrane", 300)]
    later = [i for i in later if i not in corpus.at(cutoff)]
    view = corpus.at(cutoff, retriever=name)
    other = corpus.at(cutoff, exclude=rng.sample(later, min(5, len(later))), retriever=name)
    query = rng.choice(QUERIES)
    assert view.search(query, 20) == other.search(query, 20)


def test_the_code_of_a_run_names_the_encoder_too(everything):
    from arena.encoders.static import Static

    engine = arena.Corpus.open(everything).retriever("hybrid(bm25,dense)")
    names = [kind.__name__ for kind in engine.classes()]
    assert names == ["Hybrid", "BM25Retriever", "Dense", "Static"]
    assert Static in engine.classes()
