"""Downloads without trouble: what is fetched, recorded, kept, and told."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers import MAIN
from release_server import RELEASE, ReleaseServer, files_in, files_of, no_waiting, shard
from test_corpus_cli import fails, run

from arena.errors import DataError
from corpus_builder.download import download

SHARDS = {"papers": [shard(1), shard(2, 3000)], "abstracts": [shard(3, 50_000)]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReleaseServer]:
    no_waiting(monkeypatch)
    with ReleaseServer(SHARDS) as server:
        yield server


def get(server: ReleaseServer, directory: Path, *datasets: str, **options: Any) -> dict[str, Any]:
    names = datasets or ("papers", "abstracts")
    release = options.pop("release", "latest")
    return download(directory, release, names, base_url=server.url, **options)


def record(directory: Path) -> Any:
    return json.loads((directory / "release.json").read_text())


def test_all_files_are_fetched_once_and_recorded(server: ReleaseServer, tmp_path: Path) -> None:
    report = get(server, tmp_path / "d")
    total = sum(map(len, files_of(server).values()))
    assert files_in(tmp_path / "d") == files_of(server)
    assert server.sent == total
    assert report == {
        "release": RELEASE, "datasets": {"papers": 2, "abstracts": 1}, "files": 3, "bytes": total,
    }  # fmt: skip
    listed = {
        name: [{"name": f"part_{n:03}.gz", "bytes": len(content)} for n, content in enumerate(of)]
        for name, of in SHARDS.items()
    }
    assert record(tmp_path / "d") == {"release": RELEASE, "datasets": listed}


def test_what_is_complete_needs_neither_server_nor_key(
    server: ReleaseServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    get(server, tmp_path)
    before, asked = files_in(tmp_path), len(server.requests)
    monkeypatch.delenv("S2_API_KEY")
    report = get(server, tmp_path)
    assert report["files"] == report["bytes"] == 0
    assert files_in(tmp_path) == before and len(server.requests) == asked


def test_latest_stays_what_it_was(server: ReleaseServer, tmp_path: Path) -> None:
    get(server, tmp_path, "papers")
    server.releases.append("2024-03-05")
    get(server, tmp_path)
    assert record(tmp_path)["release"] == RELEASE
    assert files_in(tmp_path) == files_of(server)
    with pytest.raises(DataError, match=f"contains release {RELEASE}, not '2023-12-26'"):
        get(server, tmp_path, release="2023-12-26")
    get(server, tmp_path, release=RELEASE)


def test_a_directory_of_somebody_else(server: ReleaseServer, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("mine")
    with pytest.raises(DataError, match="contains files but no release"):
        get(server, tmp_path)
    assert files_in(tmp_path) == {"thesis.tex": b"mine"} and not server.requests


@pytest.mark.parametrize("text", ["{", '{"release": 1, "datasets": {}}',
    '{"release": "x", "datasets": {"papers": [{"name": "../a.gz", "bytes": 1}]}}',
])  # fmt: skip
def test_a_broken_record(server: ReleaseServer, tmp_path: Path, text: str) -> None:
    (tmp_path / "release.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(DataError, match=r"release\.json"):
        get(server, tmp_path)
    assert not server.requests


# The command.


def words(server: ReleaseServer, directory: Path, *more: str) -> list[str]:
    return ["download", "s2orc", "--output", str(directory), "--base-url", server.url,
            "--datasets", "papers,abstracts", *more]  # fmt: skip


def test_the_command(server: ReleaseServer, tmp_path: Path, capsys: Any) -> None:
    directory = tmp_path / "d"
    total = f"{sum(map(len, files_of(server).values())) / 1000:.1f} kB"
    status, out, err = run(capsys, *words(server, directory))
    assert (status, err) == (0, "")
    assert out == f"release {RELEASE}: 3 files are complete; 3 fetched now ({total}).\n"
    status, out, _ = run(capsys, *words(server, directory, "--json"))
    assert status == 0 and json.loads(out)["files"] == 0


def test_the_command_fails_in_one_line(
    server: ReleaseServer, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = ("--json",)
    line = fails(capsys, *words(server, tmp_path / "d", *quiet, "--release", "2024"))
    assert "unknown release '2024'" in line
    monkeypatch.delenv("S2_API_KEY")
    assert "S2_API_KEY is not set" in fails(capsys, *words(server, tmp_path / "d"))
    (tmp_path / "file").write_text("")
    assert "is not a directory" in fails(capsys, *words(server, tmp_path / "file"))
    assert "no dataset is named" in fails(capsys, *words(server, tmp_path, "--datasets", ","))


def test_two_at_once(server: ReleaseServer, tmp_path: Path, capsys: Any) -> None:
    server.rate = 50_000.0
    first = subprocess.Popen(
        [sys.executable, "-c", MAIN, *words(server, tmp_path / "d")],
        stdout=subprocess.DEVNULL,
    )
    while not server.fetched():
        assert first.poll() is None
    assert "another process is writing" in fails(capsys, *words(server, tmp_path / "d"))
    server.rate = None
    assert first.wait() == 0
    assert files_in(tmp_path / "d") == files_of(server)
