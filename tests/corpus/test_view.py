"""The view at a cutoff against a model in plain Python that filters first and looks up later."""

from __future__ import annotations

import json
import pickle
import tempfile
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow.parquet as pq
import pytest
from helpers import Memory
from hypothesis import given, settings
from hypothesis import strategies as st

import arena
from arena.corpus.store import CorpusStore
from arena.errors import CorpusError, DataError, UnknownPaperError
from arena.retrieval import Ranking, Retriever, Scope
from corpus_builder.build import build

DATES = [None, "2019", "2020", "2020-02", "2020-02-28", "2020-02-29", "2020-03-01", "2020-12-31"]
# Worked out by hand: a year is its 31 December, a month its last day (2020 is a leap year).
RESOLVED = {
    "2019": "2019-12-31",
    "2020": "2020-12-31",
    "2020-02": "2020-02-29",
    **{date: date for date in DATES if date and len(date) == 10},
}
CUTOFFS = ["2018-01-01", "2019-12-31", "2020-01-01", "2020-02-29", "2020-02", "2020-03-02", "2021"]
SURVEY = {
    "id": "S",
    "title": "The survey of graphs",
    "date": "2020-03-01",
    "references": ["p0", "p1"],
}


@st.composite
def corpora(draw: st.DrawFn) -> list[dict[str, Any]]:
    count = draw(st.integers(1, 9))
    ids = [f"p{n}" for n in range(count)]
    return [
        {
            "id": id_,
            "title": draw(
                st.sampled_from(["graph", "neural graph", "network", "the survey of graphs"])
            ),
            "abstract": draw(st.sampled_from(["", "graph", "network graph", "neural"])),
            "date": draw(st.sampled_from(DATES)),
            "is_survey": draw(st.booleans()) and draw(st.booleans()),
            "references": draw(st.lists(st.sampled_from([*ids, "unknown"]), max_size=4)),
            "sections": draw(st.sampled_from([[], [{"heading": "Intro", "text": "network"}]])),
        }
        for id_ in ids
    ]


def visible(papers: list[dict[str, Any]], cutoff: str, excluded: set[str]) -> dict[str, Any]:
    """The papers that exist before the cutoff, by ISO strings: no code of the project."""
    before = {"2020-02": "2020-02-01", "2021": "2021-01-01"}.get(cutoff, cutoff)
    return {
        p["id"]: p
        for p in papers
        if p["date"] is not None
        and RESOLVED[p["date"]] < before
        and not p["is_survey"]
        and p["title"] != "the survey of graphs"  # the title of the survey task
        and p["id"] not in excluded
    }


@settings(max_examples=20, deadline=None)
@given(papers=corpora(), data=st.data())
def test_nothing_else_exists(papers, data):
    excluded = data.draw(st.sets(st.sampled_from([*(p["id"] for p in papers), "other"])))
    with tempfile.TemporaryDirectory() as directory:
        build(Memory(papers, [SURVEY]), Path(directory) / "corpus")
        corpus = arena.Corpus.open(Path(directory) / "corpus")
        for cutoff in CUTOFFS:
            check(corpus.at(cutoff, exclude=excluded), papers, visible(papers, cutoff, excluded))


def check(view: arena.CorpusView, papers: list[dict[str, Any]], seen: dict[str, Any]) -> None:
    """Ask a view for everything; `seen` are the papers that exist in it."""
    assert len(view) == len(seen)
    assert {p["id"] for p in papers if p["id"] in view} == set(seen)
    number = {
        p["id"]: n
        for n, p in enumerate(
            sorted(papers, key=lambda p: (RESOLVED.get(p["date"], "9999"), p["id"]))
        )
    }
    for paper in papers:
        id_ = paper["id"]
        if id_ not in seen:
            for ask in (view.paper, view.sections, view.references, view.citations):
                with pytest.raises(UnknownPaperError) as future:
                    ask(id_)
                with pytest.raises(UnknownPaperError) as unknown:
                    ask("zz")
                # word for word the answer to an id that never was
                assert str(future.value) == str(unknown.value).replace("zz", id_)
            with pytest.raises(UnknownPaperError):
                view.citation_count(id_)
            continue
        found = view.paper(id_)
        assert (found.title, found.abstract) == (paper["title"], paper["abstract"])
        assert found.date == RESOLVED[paper["date"]]
        cites = sorted({r for r in paper["references"] if r in seen and r != id_}, key=number.get)
        assert view.references(id_) == cites
        cited_by = [q for q in seen if id_ in seen[q]["references"] and q != id_]
        assert view.citations(id_) == sorted(cited_by, key=number.get)
        assert view.citation_count(id_) == len(cited_by)
        assert [s._asdict() for s in view.sections(id_)] == paper["sections"]
    for query in ("graph", "network neural", "topic"):
        hits = view.search(query, 100)
        words = set(query.split())
        matching = {
            id_
            for id_, p in seen.items()
            if words
            & set(
                f"{p['title']} {p['abstract']} {' '.join(s['text'] for s in p['sections'])}".split()
            )
        }
        assert {hit.id for hit in hits} == matching
        assert all(hit.date == RESOLVED[seen[hit.id]["date"]] for hit in hits)
        order = [(-hit.score, number[hit.id]) for hit in hits]
        assert order == sorted(order)


@settings(max_examples=25, deadline=None)
@given(papers=corpora(), cutoff=st.sampled_from(CUTOFFS), data=st.data())
def test_scores_are_those_of_a_corpus_without_the_rest(papers, cutoff, data):
    """A paper out of reach leaves no trace in a score: no statistic counts it."""
    excluded = data.draw(st.sets(st.sampled_from([p["id"] for p in papers]), max_size=3))
    seen = visible(papers, cutoff, excluded)
    if not seen:
        return
    with tempfile.TemporaryDirectory() as directory:
        build(Memory(papers, [SURVEY]), Path(directory) / "all")
        build(Memory(list(seen.values()), [SURVEY]), Path(directory) / "seen")
        whole = arena.Corpus.open(Path(directory) / "all").at(cutoff, exclude=excluded)
        alone = arena.Corpus.open(Path(directory) / "seen").at("2030")
        for query in ("graph", "network neural", "neural graph graph"):
            assert whole.search(query, 50) == alone.search(query, 50)


def test_the_view_says_what_it_is(synthetic):
    view = arena.Corpus.open(synthetic).at("2010-06")
    assert view.cutoff == "2010-06-01"
    assert repr(view) == f"<{len(view)} papers before 2010-06-01>"
    assert 0 < len(view) < len(arena.Corpus.open(synthetic).at("2030"))


@pytest.mark.parametrize("query", ["", "the of and", "zzzzunknown", "\ud800", "\x00"])
def test_queries_that_find_nothing(synthetic, query):
    assert arena.Corpus.open(synthetic).at("2030").search(query, 10) == []


def test_a_long_query(synthetic):
    view = arena.Corpus.open(synthetic).at("2030")
    assert view.search("membrane " * 20_000, 5)[0].id == view.search("membrane", 5)[0].id


@pytest.mark.parametrize("k", [-1, "3"])
def test_bad_k(synthetic, k):
    with pytest.raises(DataError, match="give an integer >= 0"):
        arena.Corpus.open(synthetic).at("2030").search("membrane", k)


@pytest.mark.parametrize("exclude", ["w7-1", [None]])
def test_bad_exclusions(synthetic, exclude):
    with pytest.raises(DataError, match="ids"):
        arena.Corpus.open(synthetic).at("2030", exclude=exclude)


def test_exclusions_may_be_numbers_and_any_iterable(mini):
    assert len(arena.Corpus.open(mini).at("2030", exclude=None)) == 11
    view = arena.Corpus.open(mini).at("2030", exclude=(n for n in (12345, 12345)))
    assert "12345" not in view
    assert "12345" in arena.Corpus.open(mini).at("2030")


class Careless(Retriever):
    """An engine that does not look at its scope."""

    config: ClassVar[dict[str, Any]] = {}

    @classmethod
    def build(cls, *_: Any, **__: Any) -> dict[str, Any]:
        raise NotImplementedError

    @classmethod
    def open(cls, *_: Any, **__: Any) -> Retriever:
        raise NotImplementedError

    def __init__(self, documents: list[int], score: float = 1.0) -> None:
        self.documents, self.score = documents, score

    def search(self, query: str, k: int, scope: Scope) -> Ranking:
        return Ranking(np.array(self.documents, np.int64), np.full(len(self.documents), self.score))


def test_a_view_does_not_trust_an_engine(mini):
    """Document numbers of the mini corpus: see conftest.py. The cutoff lies before document 7."""
    corpus = arena.Corpus.open(mini)
    bad = [Careless(documents) for documents in ([7], [-1], [14], [1], [10**6], [3], [0, 2, 4])]
    for careless in (*bad, Careless([0], np.nan), Careless([0], np.inf)):
        corpus.engines.opened["careless"] = careless, "careless", {}
        view = corpus.at("2020-12-31", exclude=["p:day"], retriever=careless)
        with pytest.raises(CorpusError, match="Careless returned papers that do not exist"):
            view.search("x", 2)
    fine = Careless([0, 2])
    corpus.engines.opened["careless"] = fine, "careless", {}
    hits = corpus.at("2020-12-31", retriever=fine).search("x", 2)
    assert [hit.id for hit in hits] == ["p:old", "p:leap"]


@pytest.mark.parametrize("day", [1, 400, 20_000])
def test_a_wrong_end_of_the_scope_shows_no_paper_of_the_future(synthetic, monkeypatch, day):
    """As when the array of days is damaged: the date of every hit is compared with the cutoff."""
    end = CorpusStore.end
    view = arena.Corpus.open(synthetic).at("2010-06-15")
    right = {hit.id for hit in view.search("membrane", 1000)}
    monkeypatch.setattr(CorpusStore, "end", lambda self, cutoff: end(self, cutoff + day))
    wrong = arena.Corpus.open(synthetic).at("2010-06-15")
    for search in (wrong.search, lambda q, k: arena.search_batch([(wrong, q, k)])[0]):
        if len(wrong) > len(view):
            with pytest.raises(CorpusError, match="the corpus is damaged: verify it"):
                search("membrane", 1000)
        else:
            assert {hit.id for hit in search("membrane", 1000)} == right


def test_an_engine_of_another_corpus_is_refused(mini, synthetic):
    other = arena.Corpus.open(synthetic).retriever()
    with pytest.raises(CorpusError, match="was not opened by this corpus"):
        arena.Corpus.open(mini).at("2030", retriever=other)


def test_a_corpus_can_be_sent_to_another_process(synthetic):
    corpus = arena.Corpus.open(synthetic)
    copy = pickle.loads(pickle.dumps(corpus))
    assert copy.at("2015").search("membrane", 5) == corpus.at("2015").search("membrane", 5)


def test_a_view_can_be_sent_to_another_process(mini):
    corpus = arena.Corpus.open(mini)
    other = corpus.retriever("bm25", statistics="corpus")
    for options in ({}, {"exclude": ["p:leap", "nowhere"]}, {"retriever": other}):
        view = corpus.at("2021", **options)
        copy = pickle.loads(pickle.dumps(view))
        assert (copy.cutoff, len(copy)) == (view.cutoff, len(view))
        assert copy.search("dense retrieval", 9) == view.search("dense retrieval", 9)
    with pytest.raises(DataError, match="give a list of ids"):
        corpus.at("2021", exclude="p:leap")


class Scripted(Careless):
    """An engine whose answer is its query: document numbers, as JSON."""

    def __init__(self) -> None:
        super().__init__([])

    def search(self, query: str, k: int, scope: Scope) -> Ranking:
        documents = json.loads(query)
        return Ranking(np.array(documents, np.int64), np.arange(len(documents), 0.0, -1))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_batch_refuses_what_one_search_must_not_return(mini, data):
    """One bad ranking anywhere in a batch is an error; if there is none, every hit is right."""
    corpus = arena.Corpus.open(mini)
    engine = Scripted()
    corpus.engines.opened["scripted"] = engine, "scripted", {}
    papers = pq.read_table(mini / "papers.parquet").to_pylist()
    searches, wrong = [], False
    count = data.draw(st.integers(1, 4))
    changed = data.draw(st.integers(0, count))  # the last for none
    for place in range(count):
        cutoff = data.draw(st.sampled_from(["2020-03-05", "2020-12-31", "2999-01-01"]))
        hidden = data.draw(st.sets(st.sampled_from([p["id"] for p in papers]), max_size=3))
        exists = {
            n
            for n, p in enumerate(papers)
            if p["searchable"] and p["date"].isoformat() < cutoff and p["id"] not in hidden
        }
        documents = data.draw(st.permutations(sorted(exists)))[: data.draw(st.integers(0, 3))]
        k = len(documents) + data.draw(st.integers(0, 1))
        if place == changed:
            documents.append(data.draw(st.integers(-2, len(papers) + 1)))
            k = data.draw(st.integers(len(documents) - 1, 4))
        wrong |= len(documents) > k or not set(documents) <= exists
        wrong |= len(set(documents)) < len(documents)
        searches.append(
            (corpus.at(cutoff, exclude=hidden, retriever=engine), json.dumps(documents), k)
        )
    if wrong:
        with pytest.raises(CorpusError, match="Scripted returned papers that do not exist"):
            arena.search_batch(searches)
        return
    for (_, query, _), hits in zip(searches, arena.search_batch(searches), strict=True):
        documents = json.loads(query)
        assert hits == [
            (p["id"], p["title"], p["date"].isoformat(), len(documents) - place)
            for place, p in enumerate(papers[d] for d in documents)
        ]
        assert all(type(hit) is arena.Hit for hit in hits)
