"""Works through OpenAlex' API: pages, prices, limits and errors of a server of the tests."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from test_corpus_cli import run
from test_openalex import work

from arena.errors import DataError
from corpus_builder.download.openalex import download_works

SECRET = "nobody-may-see-this"
BASE = "https://openalex.org/"


class Server(ThreadingHTTPServer):
    """Speaks the pages of the API; `answers` are used up first: a status and headers, or bytes."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        # W1 cites W2 and W3, W2 cites W3, ...; one a month from January 2000 on
        self.works = [
            work(n, doi=f"https://doi.org/10.1000/{n}", publication_year=2000 + (n - 1) // 12,
                 publication_date=f"{2000 + (n - 1) // 12}-{(n - 1) % 12 + 1:02}-02",
                 referenced_works=[f"{BASE}W{n + k}" for k in (1, 2)])
            for n in range(1, 251)
        ]  # fmt: skip
        self.answers: list[Any] = []
        self.requests: list[dict[str, str]] = []
        self.cursor, self.body = "c{}", b"{}"
        self.url = f"http://127.0.0.1:{self.server_port}"

    def page(self, asked: dict[str, str]) -> dict[str, Any]:
        """Return the answer to a request."""
        found = self.works
        for condition in asked["filter"].split(","):
            name, _, value = condition.partition(":")
            any_of = set(value.split("|"))
            keep = {
                "to_publication_date": lambda w, v=value: w["publication_date"] <= v,
                "doi": lambda w, v=any_of: w["doi"].removeprefix("https://doi.org/") in v,
                "openalex": lambda w, v=any_of: w["id"].removeprefix(BASE) in v,
                "cites": lambda w, v=any_of: {r[len(BASE) :] for r in w["referenced_works"]} & v,
            }[name]
            found = [each for each in found if keep(each)]
        size = int(asked["per_page"])
        assert size <= 100
        start = 0 if asked["cursor"] == "*" else int(re.sub(r"\D", "", asked["cursor"]))
        end = start + size
        more = self.cursor.format(end) if end < len(found) else None
        return {"meta": {"count": len(found), "next_cursor": more}, "results": found[start:end]}


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        asked = {k: v[0] for k, v in parse_qs(urlsplit(self.path).query).items()}
        self.server.requests.append(asked)
        answer = self.server.answers.pop(0) if self.server.answers else None
        if asked.get("api_key") != SECRET:
            answer = (401, {})
        status, headers = answer if isinstance(answer, tuple) else (200, {})
        body = answer if isinstance(answer, bytes) else self.server.body
        if answer is None:
            body = json.dumps(self.server.page(asked)).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("OPENALEX_API_KEY", SECRET)
    monkeypatch.setattr("corpus_builder.download.fetch.PAUSE", 0)
    monkeypatch.setattr("corpus_builder.download.fetch.ATTEMPTS", 3)
    with Server() as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        yield server
        server.shutdown()


def get(server: Server, output: Path, **options: Any) -> dict[str, Any]:
    chosen = {"before": "2010-01-01", "papers": 1000, "query": "reefs", **options}
    return download_works(output, base_url=server.url, **chosen)


def ids(output: Path) -> list[str]:
    pages = [json.loads(line) for line in (output / "works.jsonl").read_text().splitlines()]
    return [each["id"].removeprefix(BASE) for page in pages for each in page["results"]]


def test_a_query_becomes_a_corpus(server: Server, tmp_path: Path, capsys: Any) -> None:
    words = ("--query", "reefs", "--before", "2010-01", "--base-url", server.url)
    _, shown, error = run(capsys, "download", "openalex", *words, "--output", tmp_path / "o")
    assert error == "" and "10,000 works take about 100 calls for $0.10" in shown
    # 120 works are dated before 2010: two pages of 100, a tenth of a cent each.
    assert "120 works are here, 2 calls for $0.0020 made now." in shown
    assert [asked["search"] for asked in server.requests] == ["reefs", "reefs"]
    papers = tmp_path / "o/works.jsonl"
    _, shown, _ = run(capsys, "build", "library", "--papers", papers, "--output", tmp_path / "lib")
    assert "120 of 120 searchable papers cite another or are cited" in shown
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not any(SECRET.encode() in path.read_bytes() for path in files) and SECRET not in shown


def test_seeds_and_what_is_around_them(server: Server, tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text("@misc{a, title={On Reefs 50}, doi={10.1000/50}}")
    report = get(server, tmp_path / "o", query=None, seeds=tmp_path / "a.bib")
    # W50 cites 51 and 52; 48 and 49 cite it.
    assert sorted(ids(tmp_path / "o")) == ["W48", "W49", "W50", "W51", "W52"]
    assert report["seeds"] == 1 and report["dollars"] == pytest.approx(3 * 0.0001)
    report = get(server, tmp_path / "o", query=None, seeds=tmp_path / "a.bib", hops=2)
    assert sorted(ids(tmp_path / "o"))[0] == "W46" and report["works"] == 9
    assert len(server.requests) == 3 + 2  # the first hop was not asked again


def test_a_spent_budget_ends_it_and_it_continues(server: Server, tmp_path: Path) -> None:
    server.answers = [None, (429, {"Retry-After": "18000"})]
    with pytest.raises(DataError, match=r"asks to wait 5.0 hours.*100 works are here.*continues"):
        get(server, tmp_path / "o")
    with (tmp_path / "o/works.jsonl").open("ab") as file:
        file.write(b'{"request": "cut')  # as a kill leaves it
    assert get(server, tmp_path / "o")["calls"] == 1
    assert ids(tmp_path / "o") == [f"W{n}" for n in range(1, 121)]


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((429, {}), "OpenAlex answered 429 .in each of 3 attempts"),
        ((500, {}), "OpenAlex answered 500 .in each of 3 attempts"),
        (b"<!DOCTYPE html>", "OpenAlex answered without JSON .in each of 3 attempts"),
        (b'{"meta": {}}', "meta.count is missing"),
        ((400, {}), "OpenAlex answered 400"),
    ],
    ids=["429", "500", "a page", "no results", "400"],
)
def test_errors_for_ever(server: Server, tmp_path: Path, answer: Any, message: str) -> None:
    server.answers = [answer] * 9
    with pytest.raises(DataError, match=message) as caught:
        get(server, tmp_path / "o")
    assert SECRET not in str(caught.value) and not (tmp_path / "o").exists()


def test_errors_that_pass(server: Server, tmp_path: Path) -> None:
    server.answers = [(500, {}), (429, {"Retry-After": "0"}), None, b"<html>"]
    assert get(server, tmp_path / "o")["works"] == 120


def test_pages_that_repeat(server: Server, tmp_path: Path) -> None:
    page = json.dumps(server.page({"filter": "to_publication_date:2009-12-31", "cursor": "*",
                                   "per_page": "100"})).encode()  # fmt: skip
    server.answers = [page, page.replace(b"c100", b"c0")]
    with pytest.raises(DataError, match="the server gives more pages than it has works"):
        server.answers += [page.replace(b"c100", b"c%d" % n) for n in range(1, 9)]
        get(server, tmp_path / "o")
    assert len(ids(tmp_path / "o")) == len(set(ids(tmp_path / "o"))) == 100
    server.answers = [page, page]
    with pytest.raises(DataError, match="gives the cursor 'c100' twice"):
        get(server, tmp_path / "p")


def test_works_that_make_no_sense(server: Server, tmp_path: Path) -> None:
    server.works[0] |= {"publication_date": "2011-05-01"}  # the server ignores the filter
    page = {"meta": {"count": 12, "next_cursor": None}, "results": server.works[:12]}
    server.answers = [json.dumps(page).encode()]
    assert get(server, tmp_path / "o")["left_out"] == {"not before the day": 1}
    for each in server.works[:12]:
        each["publication_date"], each["title"] = each["title"], each["publication_date"]
    with pytest.raises(DataError, match="12 of 12 works of an answer make no sense"):
        server.answers = [json.dumps(page).encode()]
        get(server, tmp_path / "p")


def test_no_key(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENALEX_API_KEY", "another")
    with pytest.raises(DataError, match="does not take the key in OPENALEX_API_KEY"):
        get(server, tmp_path / "o")
    monkeypatch.delenv("OPENALEX_API_KEY")
    with pytest.raises(DataError, match="is not set"):
        get(server, tmp_path / "o")
