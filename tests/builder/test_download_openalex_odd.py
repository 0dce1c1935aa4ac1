"""A server of OpenAlex that answers oddly: nothing wrong is stored, nothing grows or lasts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from test_download_openalex import SECRET, Server, get, ids, server

from arena.errors import DataError

__all__ = ["server"]
FIRST = {"filter": "to_publication_date:2009-12-31", "cursor": "*", "per_page": "100"}


def page(server: Server, **meta: Any) -> bytes:
    """Return the first page with other values beside the works."""
    answer = server.page(FIRST)
    return json.dumps({**answer, "meta": answer["meta"] | meta}).encode()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (b'{"meta": 3, "results": []}', "no page of works: meta=3"),
        (b'{"meta": {"count": "7"}, "results": []}', "no page of works: meta.count='7'"),
        (b'{"meta": {"count": 7}, "results": {}}', "no page of works: results={}"),
        (b'{"meta": {"count": 7, "next_cursor": [3]}, "results": [1]}', r"works: next=\[3\]"),
        (b"[" * 2000, "answered without JSON"),
        (b"[1]", r"no page of works: it=\[1\]"),
    ],
)
def test_what_is_no_page_is_not_stored(
    server: Server, tmp_path: Path, answer: bytes, message: str
) -> None:
    server.answers = [answer] * (3 if answer[1:2] == b"[" else 1)
    with pytest.raises(DataError, match=message):
        get(server, tmp_path / "o")
    assert not (tmp_path / "o").exists()
    assert get(server, tmp_path / "o")["works"] == 120


def test_odd_works_cost_themselves(server: Server, tmp_path: Path) -> None:
    server.works[0]["referenced_works"] = 7
    server.works[1]["title"] = "On \ud83d reefs"
    server.works[2] = None  # type: ignore[call-overload]
    server.answers = [json.dumps({"meta": {"count": 9}, "results": server.works[:9]}).encode()]
    assert get(server, tmp_path / "o")["left_out"] == {"cannot be used": 1}
    assert ids(tmp_path / "o") == ["W1", "W2", *(f"W{n}" for n in range(4, 10))]
    assert "On � reefs" in (tmp_path / "o/works.jsonl").read_text("utf-8")
    assert get(server, tmp_path / "o")["calls"] == 0


@pytest.mark.parametrize("key", [SECRET, "a/b+c=d?e"])
def test_a_key_that_the_server_repeats_is_written_nowhere(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("OPENALEX_API_KEY", key)
    monkeypatch.setattr("test_download_openalex.SECRET", key)
    for form in (key, quote(key, safe="")):
        server.works[3]["title"] = f"What {form} means"
        server.answers = [page(server, next_cursor=f"c{form}"), (400, {})]
        server.body = json.dumps({"message": f"no key {form}"}).encode()
        with pytest.raises(DataError, match=r"400: 'no key \*\*\*'") as caught:
            get(server, tmp_path / "o")
        stored = (tmp_path / "o/works.jsonl").read_text()
        assert "What *** means" in stored and form not in stored + str(caught.value)
        (tmp_path / "o/works.jsonl").unlink()


def test_answers_are_bounded_in_size_and_time(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corpus_builder.download.fetch.LARGEST", 1 << 20)
    packed = gzip.compress(b" " * (9 << 20))
    for answer in (b" " * (2 << 20), (200, {"Content-Encoding": "gzip"})):
        server.answers, server.body = [answer], packed
        with pytest.raises(DataError, match=r"has more than 1,048,576 bytes\. 0 works"):
            get(server, tmp_path / "o")
    monkeypatch.setattr("corpus_builder.download.fetch.LONGEST", -1)
    with pytest.raises(DataError, match="the answer of OpenAlex takes more than -1 s"):
        get(server, tmp_path / "o")


def test_a_damaged_line_is_named(server: Server, tmp_path: Path) -> None:
    get(server, tmp_path / "o")
    file = tmp_path / "o/works.jsonl"
    first, second = file.read_text().splitlines(keepends=True)
    file.write_text(first + second[9:])
    with pytest.raises(DataError, match=r"works.jsonl' line 2 is no answer of OpenAlex. Delete"):
        get(server, tmp_path / "o")
