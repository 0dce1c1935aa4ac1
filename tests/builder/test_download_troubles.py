"""Downloads with trouble on the way: from the storage, from the API, and with the key."""

from __future__ import annotations

import errno
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from release_server import (
    KEY,
    RELEASE,
    ReleaseServer,
    Stored,
    Trouble,
    files_in,
    files_of,
    no_waiting,
    shard,
)

from arena.errors import ArenaError, DataError
from corpus_builder.download import download

CONTENT = shard(1)
SIZE = len(CONTENT)
NAME = "part_000.gz"
FLIPPED = CONTENT[:5000] + bytes([CONTENT[5000] ^ 1]) + CONTENT[5001:]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReleaseServer]:
    no_waiting(monkeypatch)
    monkeypatch.setattr("corpus_builder.download.fetch.PATIENCE", 0.3)
    with ReleaseServer({"papers": [CONTENT]}) as server:
        yield server


def get(server: ReleaseServer, directory: Path, **options: Any) -> dict[str, Any]:
    return download(directory, "latest", server.names, base_url=server.url, **options)


def ranges(server: ReleaseServer) -> list[str | None]:
    return [request.headers.get("range") for request in server.fetched()]


def is_here(server: ReleaseServer, directory: Path) -> bool:
    assert files_in(directory) == files_of(server)
    (entry,) = json.loads((directory / "release.json").read_text())["datasets"]["papers"]
    return bool(entry["bytes"] == len(files_of(server)["papers/" + NAME]))


# The storage.


@pytest.mark.parametrize("cuts", [[0], [SIZE - 1], [10_000, 20_000, 1, 0, 50_000]])
def test_a_broken_transfer_continues_where_it_broke(
    server: ReleaseServer, tmp_path: Path, cuts: list[int]
) -> None:
    server.data[NAME] = [Trouble(cut=cut) for cut in cuts]
    report = get(server, tmp_path)
    assert is_here(server, tmp_path)
    assert server.sent == report["bytes"] == SIZE  # not a byte twice
    at = [sum(cuts[:n]) for n in range(len(cuts) + 1)]
    assert ranges(server) == [f"bytes={n}-" if n else None for n in at]
    for request, n in zip(server.fetched(), at, strict=True):
        tag = server.objects["papers", NAME].tag()
        assert request.headers.get("if-range") == (tag if n else None)


@pytest.mark.parametrize(
    "trouble",
    [
        Trouble(reset=True),
        Trouble(503, body=b"<Error><Code>SlowDown</Code></Error>"),
        Trouble(429, {"Retry-After": "0"}),
        Trouble(200, {"ETag": ""}, b"<html>Please pay for this network</html>"),
        Trouble(200, {"Content-Length": str(SIZE + 5)}),  # more is announced than there is
        Trouble(200, {}, FLIPPED),
    ],
)
def test_one_trouble_is_overcome(server: ReleaseServer, tmp_path: Path, trouble: Trouble) -> None:
    server.data[NAME] = [trouble]
    get(server, tmp_path)
    assert is_here(server, tmp_path)
    assert len(server.fetched()) >= 2


def test_links_that_expire(server: ReleaseServer, tmp_path: Path) -> None:
    server.data[NAME] = [
        Trouble(cut=1000, before=None),
        Trouble(403, before=server.expire, body=b"<Error><Code>AccessDenied</Code></Error>"),
        Trouble(cut=1000),
    ]
    get(server, tmp_path)
    assert is_here(server, tmp_path)
    assert len(server.came("api", "/dataset/papers")) == 2
    assert ranges(server) == [None, "bytes=1000-", "bytes=1000-", "bytes=2000-"]


# Trouble that does not pass.


def fails(server: ReleaseServer, directory: Path, message: str, **options: Any) -> str:
    with pytest.raises(ArenaError, match=message) as caught:
        get(server, directory, **options)
    text = str(caught.value)
    assert "\n" not in text and "Signature" not in text and KEY not in text
    assert f"papers/{NAME}" not in files_in(directory)
    return text


def test_the_others_are_fetched_all_the_same(server: ReleaseServer, tmp_path: Path) -> None:
    server.objects["papers", "part_001.gz"] = Stored(shard(2))
    server.data[NAME] = [Trouble(500)] * 4
    text = fails(server, tmp_path, "1 of 2 files are complete", parallel=1)
    assert "papers/part_000.gz: the storage answered 500 (in each of 4 attempts)" in text
    assert text.endswith("The same command continues from here.")
    assert len(server.fetched()) == 5
    get(server, tmp_path)
    assert len(server.fetched()) == 6 and files_in(tmp_path) == files_of(server)


@pytest.mark.parametrize(
    ("stored", "message", "times"),
    [
        (Stored(FLIPPED), "damaged at its source", 3),
        (Stored(CONTENT[:-9]), "damaged at its source", 3),
        (Stored(b""), "it is empty at its source", 3),
    ],
)
def test_an_object_that_is_not_what_it_claims(
    server: ReleaseServer, tmp_path: Path, stored: Stored, message: str, times: int
) -> None:
    server.objects["papers", NAME] = stored
    fails(server, tmp_path, message)
    assert len(server.fetched()) == times
    assert files_in(tmp_path) == {}


def test_a_disk_that_fills_up(
    server: ReleaseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("corpus_builder.download.fetch.atomic_write", full)
        fails(server, tmp_path, "No space left on device. Make room")
    get(server, tmp_path)
    assert is_here(server, tmp_path)


# The API.


@pytest.mark.parametrize(
    ("trouble", "message", "times"),
    [
        (Trouble(429), "the API answered 429 .in each of 4 attempts", 4),
        (Trouble(reset=True), "cannot be asked for /release/latest: Connection reset", 4),
        (Trouble(cut=5, stall=True), "the connection failed .ReadTimeoutError.", 4),
        (Trouble(body=b"<html>"), "answered without JSON", 4),
        (Trouble(body=b'{"release_id": "../x", "datasets": []}'), "names a release '../x'", 1),
        (Trouble(400, body=b'{"error": "bad\\u001b[2J"}'), r"status 400: 'bad\\x1b\[2J'", 1),
    ],
)
def test_an_api_in_trouble(
    server: ReleaseServer, tmp_path: Path, trouble: Trouble, message: str, times: int
) -> None:
    server.api["/release/latest"] = [trouble] * 9
    fails(server, tmp_path / "d", message)
    assert len(server.came("api")) == times
    assert not (tmp_path / "d").exists()


@pytest.mark.parametrize(
    "name",
    ["..%2F..%2Fescaped.gz", ".hidden.gz", "a%00b.gz"],
)
def test_names_that_would_lead_elsewhere(server: ReleaseServer, tmp_path: Path, name: str) -> None:
    server.links = lambda dataset: [f"{server.storage}/x/papers/{name}?X-Amz-Signature=0"]
    fails(server, tmp_path / "d", "cannot name a file")
    assert list(files_in(tmp_path)) == ["d/release.json"] or not files_in(tmp_path)


# The key.


def test_the_key_stays_with_the_api(
    server: ReleaseServer, tmp_path: Path, caplog: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    with ReleaseServer({"papers": [CONTENT]}) as other:
        elsewhere = {"Location": f"{other.url}/release/latest"}
        server.api["/release/latest"] = [Trouble(302, elsewhere)]
        server.api[f"/release/{RELEASE}/dataset/papers"] = [
            Trouble(302, {"Location": f"{server.url}/release/{RELEASE}/dataset/papers"}),
            Trouble(307, {"Location": f"{other.url}/release/{RELEASE}/dataset/papers"}),
        ]
        with caplog.at_level(logging.DEBUG), pytest.raises(DataError, match="status 401"):
            get(server, tmp_path / "d")
        assert other.came("api")
        assert all("x-api-key" not in r.headers for r in other.requests)
    with caplog.at_level(logging.DEBUG):
        get(server, tmp_path / "d")
    keyed = [r for r in server.requests if "x-api-key" in r.headers]
    assert keyed and {r.place for r in keyed} == {"api"}
    assert all("/dataset/" in r.path for r in keyed)
    assert all("authorization" not in r.headers for r in server.requests)
    assert {r.method for r in server.requests} == {"GET"}
    assert KEY not in caplog.text
    for path, content in files_in(tmp_path / "d").items():
        assert KEY.encode() not in content, path
    text = (tmp_path / "d" / "release.json").read_text()
    assert KEY not in text and "Signature" not in text and "http" not in text


def test_a_key_that_is_refused_is_not_repeated(
    server: ReleaseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("S2_API_KEY", "wrong-key")  # the server repeats it
    text = fails(server, tmp_path, r"refuses the key \(status 403: 'Forbidden: \*\*\*'\)")
    assert "wrong-key" not in text
    assert len(server.came("api")) == 2
