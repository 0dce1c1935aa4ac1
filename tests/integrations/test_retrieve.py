"""``/retrieve`` against plain views, with the clients of those who train on it."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import requests

import arena
from arena.cli import main
from arena.errors import DataError
from arena.serving.retrieve import Searcher, make_app
from arena.testing.attacks import Attacker
from arena.testing.audited import check_hits
from arena.testing.auditor import Views, open_audit


@pytest.fixture(scope="module")
def address(synthetic):
    pytest.importorskip("uvicorn", reason="needs the extra serve")
    from serving import serving

    with serving(make_app(Searcher(synthetic))) as address:
        yield f"{address}/retrieve"


def ask(searcher: Searcher, url: str = "before=2022-06-15", **body):
    parameters = [tuple(part.split("=")) for part in url.split("&") if part]
    return json.loads(searcher.answer(parameters, json.dumps(body).encode()))["result"]


def refused(searcher: Searcher, url: str = "before=2022", body: bytes | None = None, **more) -> str:
    with pytest.raises(DataError) as error:
        parameters = [tuple(part.split("=")) for part in url.split("&") if part]
        searcher.answer(parameters, json.dumps(more).encode() if body is None else body)
    return str(error.value)


def test_the_wire_format_by_hand(mini):
    searcher = Searcher(mini)
    scored = ask(searcher, queries=["encoders passages"], topk=1, return_scores=True)
    document = {
        "id": "p:day",
        "contents": '"Dense Retrieval with Encoders"\nWe train encoders for passages.',
    }
    ((hit,),) = scored
    assert hit == {"document": document, "score": hit["score"]}
    assert hit["score"] > 0
    for bare in ({}, {"return_scores": False}, {"return_scores": None}):
        assert ask(searcher, queries=["encoders passages"], topk=1, **bare) == [[document]]
    assert ask(searcher, query="encoders passages", topk=1) == [[document]]
    assert ask(searcher, queries=[]) == []
    assert ask(searcher, query=" ") == [[]]


@pytest.mark.parametrize("before", ["2005", "2015-06", "2018-01-01"])
def test_answers_are_those_of_a_view(synthetic, address, before):
    view = arena.Corpus.open(synthetic).at(before)
    queries = [
        view.paper(hit.id).title for hit in view.search("erosion lattice vapor model of the", 30)
    ]
    body = {"queries": queries, "topk": 7, "return_scores": True}
    got = requests.post(f"{address}?before={before}", json=body, timeout=60).json()["result"]
    expected = []
    for query in queries:
        hits = view.search(query, 7)
        papers = [view.paper(hit.id) for hit in hits]
        assert all(paper.date < view.cutoff for paper in papers)
        texts = [f'"{paper.title}"\n{paper.abstract}' for paper in papers]
        expected.append([
            {"document": {"id": hit.id, "contents": text}, "score": hit.score}
            for hit, text in zip(hits, texts, strict=True)
        ])  # fmt: skip
    assert got == expected
    assert len(queries) == 30


def test_cutoffs(mini):
    """The server's day, that of the URL, or both: the URL's when it is not later."""

    def found(searcher, url):
        return {hit["id"] for hit in ask(searcher, url, query="day later index models", topk=50)[0]}

    free, fixed = Searcher(mini), Searcher(mini, "2022-06-15")
    assert found(free, "before=2024") >= {"p:last", "p:same", "p:later", "p:year"}
    assert found(fixed, "") == found(free, "before=2022-06-15")
    assert "p:last" in found(fixed, "")
    assert not found(fixed, "") & {"p:same", "p:later"}
    # A paper of "2020" counts as one of its last day; a cutoff of 2020 excludes the year.
    assert "p:year" not in found(fixed, "before=2020-12-31")
    assert found(fixed, "before=2020") == found(fixed, "before=2020-01-01")
    assert "p:year" in found(fixed, "before=2021-01-01")
    assert "later than this server's 2022-06-15" in refused(fixed, "before=2022-06-16", query="x")
    assert "start the server with --before" in refused(free, "", query="x")


def test_exclude(mini):
    searcher = Searcher(mini)
    assert [hit["id"] for hit in ask(searcher, query="encoders")[0]] == ["p:leap", "p:day"]
    url = "before=2022&exclude=p:leap&exclude=p:later&exclude=nowhere:1"
    assert [hit["id"] for hit in ask(searcher, url, query="encoders")[0]] == ["p:day"]
    assert ask(searcher, url + "&exclude=p:day", query="encoders") == [[]]


def test_the_future_shows_nowhere(mini):
    """Every byte that a paper not before the cutoff could change: answers, errors, health."""
    searcher = Searcher(mini, "2021")
    text = json.dumps([
        ask(searcher, "", queries=["later work dense retrieval", "same day", "p:same"], topk=50),
        ask(searcher, "exclude=p:same", query="the same day"),
        refused(searcher, "exclude=p:same&before=2024", query="p:same"), searcher.health,
    ])  # fmt: skip
    assert not [late for late in ("p:same", "p:later", "p:last", "Later Work") if late in text]


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"{}", "has no queries"),
        (b'{"query": "x", "queries": ["x"]}', "has queries and query"),
        (b'{"queries": ["x", null]}', "queries=['x', None]: give texts"),
        (b'{"query": "x", "topk": 1001}', "topk=1001: give an integer from 1 to 1,000; null or 0"),
        (b'{"query": "x", "return_scores": "no"}', "return_scores='no': give true or false"),
        (json.dumps({"queries": ["x"] * 4097}).encode(), "4,097 queries with topk 3"),
        (json.dumps({"queries": ["x"] * 51, "topk": 1000}).encode(), "50,000 papers in all"),
    ],
)
def test_bad_bodies(mini, body, error):
    assert error in refused(Searcher(mini), body=body)


@pytest.mark.parametrize(
    ("url", "error"),
    [
        ("befor=2015", "'befor' in the URL: it takes before and exclude"),
        ("before=soon", "'soon' is not a date"),
        ("before=2015-02-30", "not a day of the calendar"),
        ("before=2015&before=2016", "before=['2015', '2016']: give one day"),
    ],
)
def test_bad_urls(mini, url, error):
    assert error in refused(Searcher(mini), url, query="x")


def test_bad_options(mini, capsys):
    for option, error in (("--topk=0", "topk=0: give an integer from 1 to 1000"),
                          ("--before=soon", "'soon' is not a date"),
                          ("--retriever=bm52", "Did you mean 'bm25'")):  # fmt: skip
        assert main(["serve", "retrieve", "--corpus", str(mini), option]) == 2
        assert error in capsys.readouterr().err


def test_health(address):
    health = requests.get(address.replace("/retrieve", "/health"), timeout=60).json()
    assert (health["status"], health["before"], health["topk"]) == ("ok", None, 3)


def papers_of(synthetic, query: str, k: int) -> list[arena.Paper]:
    view = arena.Corpus.open(synthetic).at("2015")
    return [view.paper(hit.id) for hit in view.search(query, k)]


def test_the_client_of_skyrl(synthetic, address):
    search = pytest.importorskip("skyrl_gym.envs.search.env", reason="needs skyrl-gym")
    config = search.SearchEnvConfig(search_url=f"{address}?before=2015", topk=2)
    env = search.SearchEnv(config, {"reward_spec": {"ground_truth": {"target": ["yes"]}}})
    step = env.step("<search>lattice erosion</search>")
    first, second = papers_of(synthetic, "lattice erosion", 2)
    found = "".join(
        f'Doc {rank}: "{paper.title}"\n{paper.abstract}\n'
        for rank, paper in enumerate((first, second), 1)
    )
    expected = f"\n<information>{json.dumps({'result': found})}</information>\n"
    assert (step["observations"][0]["content"], step["done"]) == (expected, False)
    assert env.step("<answer>yes</answer>")["reward"] == 1


@pytest.mark.parametrize("late", [False, True])
def test_attacks_at_random_cutoffs(synthetic: Path, late: bool) -> None:
    """Queries of an agent that knows the whole corpus, with papers that are left out."""
    state, rng = open_audit(synthetic, ("bm25",)), random.Random(1)
    report = state.log
    searcher, views = Searcher(synthetic), Views(state, rng)
    for _ in range(80):
        view, _ = views.reference("bm25")
        attacker = Attacker(view, rng)
        day = "9999" if late else view.cutoff
        url = [("before", day), *(("exclude", each) for each in view.excluded)]
        body = {"queries": [attacker.text(), attacker.text()], "topk": 10, "return_scores": True}
        found = json.loads(searcher.answer(url, json.dumps(body).encode()))["result"]
        for query, hits in zip(body["queries"], found, strict=True):
            rows = [hit["document"] | {"score": hit["score"]} for hit in hits]
            shown = []
            for row in rows:
                paper = view.row(row["id"])
                if paper is not None:
                    assert row["contents"] == f'"{paper.title}"\n{paper.abstract}'
                more = {"title": paper.title, "date": paper.date} if paper else {}
                shown.append({"id": row["id"], "score": row["score"], **more})
            check_hits(
                (view, (query,), 10, 0), shown, state, views.reporter(view.cutoff, "retrieve")
            )
    found_late = {"leak.paper", "answer.score", "answer.page"}
    assert set(report.by_check) == (found_late if late else set())
    assert report.counts["papers returned"] > 500
