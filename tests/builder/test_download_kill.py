"""Downloads, killed or interrupted at any moment, in processes of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import MAIN
from kills import kill_at
from release_server import ReleaseServer, files_in, files_of, no_waiting, shard

from corpus_builder.download import download

pytestmark = pytest.mark.slow

SHARDS = [shard(number, 600_000) for number in range(3)]
TOTAL = sum(map(len, SHARDS))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReleaseServer]:
    no_waiting(monkeypatch)
    with ReleaseServer({"papers": SHARDS}, rate=500_000) as server:
        yield server


def words(server: ReleaseServer, directory: Path) -> list[str]:
    return ["download", "s2orc", "--output", str(directory), "--datasets", "papers",
            "--base-url", server.url, "--parallel", "3"]  # fmt: skip


MODULES = """
from corpus_builder.download import fetch
from corpus_builder.release.folder import Record
def at_call(number, function):
    calls = iter(range(1, 99))
    return lambda *arguments: function(*arguments) if next(calls) < number else die()
"""
MOMENTS = {
    "a list, no file": "Record.write = at_call(2, Record.write)",
    "an ETag, no bytes": "fetch.atomic_write = after(fetch.atomic_write)",
    "complete, not put": "fetch.RemoteFile.damage = die",
    "put, its ETag not removed": (
        "Path.replace = lambda self, to: (os.replace(self, to), to.suffix == '.gz' and die())"
    ),
    "put, not recorded": "fetch.Fetcher._fetch = after(fetch.Fetcher._fetch)",
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_sigkill(server: ReleaseServer, tmp_path: Path, moment: str) -> None:
    server.rate = None
    kill_at(MODULES + MOMENTS[moment], MAIN, words(server, tmp_path / "d"))
    server.rate = 1e7
    download(tmp_path / "d", datasets=["papers"], base_url=server.url)
    assert files_in(tmp_path / "d") == files_of(server)
    if "put" in moment:
        assert server.sent <= 1.7 * TOTAL
