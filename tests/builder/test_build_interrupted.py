"""Building, killed or interrupted at any moment, in processes of their own."""

from __future__ import annotations

import contextlib
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from helpers import MAIN, SMALL, WORLD, Memory, arena_corpus, command, contents, names
from kills import between_two_renames, kill_at, kill_when

from arena.corpus import Corpus
from arena.errors import CorpusError, DataError
from corpus_builder.build import build
from corpus_builder.manifest import verify

pytestmark = pytest.mark.slow


def whole_or_closed(directory: Path) -> None:
    """Whatever opens below `directory` is complete."""
    for path in [directory, *directory.rglob("*")]:
        if path.is_dir():
            with contextlib.suppress(CorpusError):
                Corpus.open(path)
                assert verify(path)["problems"] == {}, path


def test_sigkill_at_random_moments(tmp_path: Path) -> None:
    output, building = tmp_path / "c", tmp_path / ".c.building"
    random_moments = random.Random(20)
    span, killed = 0.5, 0
    for _ in range(8):
        process = subprocess.Popen(command(*WORLD, "--output", output), stdout=subprocess.DEVNULL)
        killed += kill_when(process, building.exists, random_moments.uniform(0, span))
        whole_or_closed(tmp_path)
        if output.exists():
            assert verify(output)["problems"] == {}
            shutil.rmtree(output)
            span *= 0.8
    assert killed >= 3
    assert arena_corpus(*WORLD, "--output", output).returncode == 0
    assert verify(output)["problems"] == {}
    assert names(tmp_path) == ["c"]


MODULES = "import corpus_builder.build as b\nimport corpus_builder.content as c\n"

MOMENTS = {
    "before anything": "b.stage = die",
    "when staged": "b.database = die",
    "papers written": "c.write_links = die",
    "links written": "c.write_tasks = die",
    "tasks written": "b.write_index = die",
    "index written": "b.list_files = die",
    "before the manifest": "b.write_json = die",
    "before the rename": "workdir.put = die",
    "after the rename": "workdir._sync_one = lambda path: path.name == sys.argv[-1] and die()",
    "while clearing": "rmtree = b.shutil.rmtree\nb.shutil.rmtree = lambda path, **options: "
    "die() if Path(path).name.startswith('going-') else rmtree(path, **options)",
    "between two renames": between_two_renames("c"),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_sigkill_at_every_step(tmp_path: Path, mini: Path, mini_records: Any, moment: str) -> None:
    data, place = tmp_path / "data", tmp_path / "place"
    data.mkdir(), place.mkdir()
    papers, surveys = mini_records.write(data)
    output = place / "c"
    build(SMALL, output)
    old, new = contents(output), contents(mini)
    options = ["jsonl", "--papers", papers, "--surveys", surveys, "--output", output, "--overwrite"]
    main = MAIN.replace("main()", "main(sys.argv[1:-1])")
    kill_at(MODULES + MOMENTS[moment], main, ["build", *options, place.name])
    whole_or_closed(place)
    done = moment in ("after the rename", "while clearing")
    if moment != "between two renames":
        assert contents(output) == (new if done else old)
    # The next build, which fails, finds the old corpus where it was, and leaves nothing else.
    with pytest.raises(CorpusError if moment == "between two renames" else DataError):
        build(Memory([{}], []), output, overwrite=moment != "between two renames")
    assert contents(output) == (new if done else old)
    assert arena_corpus(*options).returncode == 0
    assert contents(output) == new
    assert names(place) == ["c"]


INTERRUPT = """
import os, signal, sys, threading, time
import corpus_builder.build as b
import corpus_builder.content as c
def interrupt(*arguments, **options):
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(9)
def query(connection, output):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    connection.execute("SELECT sum(hash(range) % 7) FROM range(99999999999)")
"""


@pytest.mark.parametrize(
    "patch", ["b.stage = interrupt", "c.write_links = query", "b.write_json = interrupt"]
)
def test_ctrl_c(tmp_path: Path, patch: str) -> None:
    code = INTERRUPT + patch + "\n" + MAIN
    result = arena_corpus(*WORLD, "--output", tmp_path / "c", code=code)
    assert (result.returncode, result.stderr) == (130, "arena-corpus: interrupted.\n")
    assert names(tmp_path) == []


def test_ctrl_c_from_outside(tmp_path: Path) -> None:
    process = subprocess.Popen(
        command("world", "--papers", 5000, "--surveys", 4, "--output", tmp_path / "c"),
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / ".c.building").exists():
        time.sleep(0.005)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (130, "arena-corpus: interrupted.\n")
    assert names(tmp_path) == []
