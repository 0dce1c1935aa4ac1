"""Downloads, killed or interrupted at any moment, in processes of their own."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers import MAIN
from kills import kill_at, kill_when
from release_server import KEY, ReleaseServer, files_in, files_of, shard

from corpus_builder.download import download

pytestmark = pytest.mark.slow

SHARDS = [shard(number, 600_000) for number in range(3)]
TOTAL = sum(map(len, SHARDS))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ReleaseServer]:
    monkeypatch.setenv("S2_API_KEY", KEY)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with ReleaseServer({"papers": SHARDS}, rate=500_000) as server:
        yield server


def words(server: ReleaseServer, directory: Path) -> list[str]:
    return ["download", "s2orc", "--output", str(directory), "--datasets", "papers",
            "--base-url", server.url, "--rate", "1000", "--parallel", "3"]  # fmt: skip


def start(server: ReleaseServer, directory: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", MAIN, *words(server, directory)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


MODULES = """
from corpus_builder.download import parts as files
from corpus_builder.release import folder
PartFile, Record = files.PartFile, folder.Record
def at_call(number, function):
    calls = iter(range(1, 99))
    return lambda *arguments: function(*arguments) if next(calls) < number else die()
"""
MOMENTS = {
    "a release, no list": "Record.write = at_call(2, Record.write)",
    "a list, no file": "Record.write = at_call(3, Record.write)",
    "claims, no bytes": "PartFile.begin = after(PartFile.begin)",
    "the first bytes": "PartFile.append = after(PartFile.append)",
    "complete, not put": "PartFile.publish = die",
    "put, claims not removed": "files.Path.unlink = lambda path, **options: "
    "die() if path.name.endswith('0.gz.part.json') and (path.parent / path.name[1:-10]).exists() "
    "else os.unlink(path) if path.exists() else None",
    "put, not recorded": "PartFile.publish = after(PartFile.publish)",
    "a record half replaced": "real = Path.replace\nPath.replace = lambda path, to: "
    "die() if path.name.endswith('atomic-write.tmp') and to.name == 'release.json' "
    "and list(to.parent.glob('*/*.gz')) else real(path, to)",
}


def test_sigkill_at_random_moments(server: ReleaseServer, tmp_path: Path) -> None:
    moments, killed = random.Random(7), 0
    for _ in range(6):
        process = start(server, tmp_path / "d")
        sent = server.sent + int(moments.uniform(0, 0.25) * TOTAL)
        killed += kill_when(process, lambda sent=sent: server.sent >= sent)
        for path, content in files_in(tmp_path / "d").items():
            name = path.rpartition("/")[2]
            # What is visible is complete, and what is hidden the beginning of it.
            if name[0] != ".":
                assert content == files_of(server)[path]
            elif name.endswith(".part"):
                assert files_of(server)[path.replace("/.", "/")[:-5]].startswith(content)
    assert killed >= 4
    process = start(server, tmp_path / "d")
    process.communicate()
    assert process.returncode == 0
    assert files_in(tmp_path / "d") == files_of(server)
    assert server.sent < 2 * TOTAL


def test_ctrl_c(server: ReleaseServer, tmp_path: Path) -> None:
    process = start(server, tmp_path / "d")
    while server.sent < 100_000 and process.poll() is None:
        time.sleep(0.002)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert err == "arena-corpus: interrupted. The same command goes on from here.\n"
    process = start(server, tmp_path / "d")
    process.communicate()
    assert process.returncode == 0 and files_in(tmp_path / "d") == files_of(server)
    assert server.sent < 1.5 * TOTAL


@pytest.mark.parametrize("moment", MOMENTS)
def test_sigkill_at_every_kind_of_moment(
    server: ReleaseServer, tmp_path: Path, moment: str
) -> None:
    server.rate = None
    kill_at(MODULES + MOMENTS[moment], MAIN, words(server, tmp_path / "d"))
    options = server.options()
    server.rate = 1e7
    download(tmp_path / "d", datasets=["papers"], **options, sleep=lambda seconds: None)
    assert files_in(tmp_path / "d") == files_of(server)
    if "put" in moment:
        assert server.sent <= 1.7 * TOTAL
