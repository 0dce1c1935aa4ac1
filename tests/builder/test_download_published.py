"""Published data sets: fetched from a server, resumed, verified, and built from."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from test_corpus_cli import fails, run

from arena.errors import DataError, UnknownNameError
from corpus_builder.collections import collections
from corpus_builder.download import fetch_published

PAPERS = [{"id": "p1", "title": "Old Nets", "abstract": "Nets.", "date": "2010-01-01"},
          {"id": "p2", "title": "New Nets", "abstract": "Nets.", "date": "2011-01-01"}]  # fmt: skip
SURVEY = {"id": 7, "survey": "A Survey of Nets", "pdfs": [{"title": "Old Nets"}],
          "gt": {"name": "Nets", "subtopics": [{"name": "A", "papers": ["Old Nets"]}]}}  # fmt: skip
DATA = json.dumps(SURVEY).encode() + b"\n"
TOKEN = "hf_nobody"


class Server(ThreadingHTTPServer):
    """Serves a folder; notes the requests, and cuts off the bodies after `cut` bytes."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
        self.paths: list[str] = []
        self.tokens: list[str | None] = []
        self.cut: int | None = None
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(SimpleHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.paths.append(self.path)
        self.server.tokens.append(self.headers.get("Authorization"))
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        data, start = path.read_bytes(), 0
        etag = f'"{hashlib.sha256(data).hexdigest()}"'
        if (spec := self.headers.get("Range")) and self.headers.get("If-Range") == etag:
            start = int(re.findall(r"\d+", spec)[0])
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        self.send_header("Content-Length", str(len(data) - start))
        self.send_header("ETag", etag)
        self.end_headers()
        self.wfile.write(data[start:][: self.server.cut])

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("ARENA_MIRROR", raising=False)
    monkeypatch.setattr("corpus_builder.download.fetch.PAUSE", 0)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    (tmp_path / "www").mkdir()
    (tmp_path / "www/data.jsonl").write_bytes(DATA)
    with Server(tmp_path / "www") as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}).start()
        yield server
        server.shutdown()


def publish(monkeypatch: pytest.MonkeyPatch, **about: Any) -> None:
    """Replace the addresses of taxobench."""
    known = collections() | {"taxobench": {"home": "https://taxobench", **about}}
    monkeypatch.setattr("corpus_builder.download.published.collections", lambda: known)


def get(directory: Path, mirror: str | None = None, name: str = "taxobench") -> dict[str, int]:
    return fetch_published(name, directory, mirror)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_the_addresses_are_well_formed() -> None:
    assert sorted(collections()) == [
        "autoscholarquery", "bloom-eval", "litsearch", "reportbench", "researcharena", "surge",
        "taxoalign", "taxobench",
    ]  # fmt: skip
    for about in collections().values():
        assert about["home"].startswith("https://")
        for file, digest in about.get("files", {}).items():
            assert re.fullmatch(r"[\w.-]+(/[\w.-]+)*", file) and ".." not in file
            assert digest is None or re.fullmatch("[0-9a-f]{64}", digest)
            assert about["base"].startswith("https://") and about["base"].endswith("/")


def test_the_checksums_are_those_of_the_real_files(real_data: Any) -> None:
    for name, folder in (("reportbench", "reportbench"), ("bloom-eval", "bloom_eval")):
        files = collections()[name]["files"]
        known = {file: digest for file, digest in files.items() if digest}
        assert len(known) == {"reportbench": 54, "bloom-eval": 53}[name]
        for file, digest in known.items():
            assert sha256((real_data.directory / folder / file).read_bytes()) == digest


def test_it_is_fetched_once(server: Server, tmp_path: Path) -> None:
    report = get(tmp_path / "d", server.url)
    assert report == {"files": 1, "bytes": len(DATA), "unverified": 1}
    assert (tmp_path / "d/data.jsonl").read_bytes() == DATA
    assert json.loads((tmp_path / "d/download.json").read_text()) == {
        "data_set": "taxobench", "files": {"data.jsonl": sha256(DATA)},
    }  # fmt: skip
    assert get(tmp_path / "d", server.url)["files"] == 0
    assert server.paths == ["/data.jsonl"] and server.tokens == [None]


def test_the_authors_address_and_the_mirror(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(
        monkeypatch, base=f"{server.url}/", files={"data.jsonl": sha256(DATA)}, token="HF_TOKEN"
    )
    assert get(tmp_path / "a")["unverified"] == 0
    assert server.tokens == [f"Bearer {TOKEN}"]
    publish(monkeypatch, base="http://127.0.0.1:9/", files={"data.jsonl": None}, token="HF_TOKEN")
    monkeypatch.setenv("ARENA_MIRROR", server.url)
    get(tmp_path / "b")
    assert server.tokens[1:] == [None]  # a mirror gets no token


def test_an_interrupted_download_resumes(server: Server, tmp_path: Path) -> None:
    server.cut = 10
    report = get(tmp_path / "d", server.url)  # continues from byte 10, 20, ...
    assert report["bytes"] == len(DATA) and len(server.paths) == -(-len(DATA) // 10)
    server.cut = 0
    with pytest.raises(DataError, match=r"0 of 1 file is complete.*--mirror"):
        get(tmp_path / "e", server.url)
    part = tmp_path / "f/.data.jsonl.part"
    part.parent.mkdir()
    part.write_bytes(DATA[:25])  # as a kill leaves it, with a temporary file
    part.with_name(".data.jsonl.etag").write_text(f'"{sha256(DATA)}"')
    left = part.with_name(".0123.atomic-write.tmp")
    left.write_text("{")
    server.cut = None
    assert get(tmp_path / "f", server.url)["bytes"] == len(DATA) - 25
    names = sorted(path.name for path in (tmp_path / "f").iterdir())
    assert names == ["data.jsonl", "download.json"]


def test_a_checksum_that_differs(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(monkeypatch, base="http://127.0.0.1:9/", files={"data.jsonl": sha256(b"other")})
    message = f"SHA-256 {sha256(DATA)} instead of {sha256(b'other')}"
    with pytest.raises(DataError, match=message):
        get(tmp_path / "d", server.url)
    assert not (tmp_path / "d").exists()
    (tmp_path / "d").mkdir()
    (tmp_path / "d/data.jsonl").write_bytes(b"mine")
    with pytest.raises(DataError, match="another file than taxobench publishes"):
        get(tmp_path / "d", server.url)
    assert (tmp_path / "d/data.jsonl").read_bytes() == b"mine"


def test_names_without_an_address(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"'taxobenhc'. Did you mean 'taxobench'"):
        get(tmp_path / "d", name="taxobenhc")
    with pytest.raises(DataError, match=r"taxoalign cannot be downloaded: .*zip.* See https://"):
        get(tmp_path / "d", name="taxoalign")
    with pytest.raises(DataError, match="mirror 'ftp://x'"):
        get(tmp_path / "d", "ftp://x")
    assert not (tmp_path / "d").exists()


def test_the_command(server: Server, tmp_path: Path, capsys: Any) -> None:
    papers = tmp_path / "papers.jsonl"
    papers.write_text("".join(json.dumps(paper) + "\n" for paper in PAPERS))
    words = ["download", "taxobench", "--output", str(tmp_path / "in"), "--mirror"]
    status, out, err = run(capsys, *words, server.url)
    assert (status, err) == (0, "")
    assert "taxobench: licence CC BY-NC 4.0, https://" in out
    assert "All files of taxobench are here; 1 were fetched now" in out
    assert "1 have no known checksum. Good for" in out
    status, out, _ = run(
        capsys, "build", "taxobench", "--input", str(tmp_path / "in"), "--papers", str(papers),
        "--guess-dates", "--output", str(tmp_path / "out"),
    )  # fmt: skip
    assert status == 0 and "built in" in out
    words[3] = str(tmp_path / "no")
    assert "Connection refused" in fails(capsys, *words, "http://127.0.0.1:9", "--json")


def test_full_texts_are_not_fetched_if_they_are_left_out(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("survey", "public_0", "corpus_0"):
        (tmp_path / f"www/{name}.jsonl.gz").write_bytes(gzip.compress(b"{}"))
    names = ["survey.jsonl.gz", "public_0.jsonl.gz", "corpus_0.jsonl.gz"]
    about = {"home": "https://x", "base": f"{server.url}/", "files": dict.fromkeys(names)}
    monkeypatch.setattr(
        "corpus_builder.download.published.collections", lambda: {"researcharena": about}
    )
    fetch_published("researcharena", tmp_path / "in", leave_out="corpus_*")
    assert sorted(server.paths) == ["/public_0.jsonl.gz", "/survey.jsonl.gz"]
    fetch_published("researcharena", tmp_path / "in")
    assert server.paths[2:] == ["/corpus_0.jsonl.gz"]
