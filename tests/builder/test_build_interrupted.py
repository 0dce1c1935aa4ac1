"""Building, killed or interrupted, in processes of their own: the same command repairs it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from helpers import MAIN, SMALL, WORLD, arena_corpus, contents, names
from kills import between_two_renames, kill_at

from arena.corpus import Corpus
from arena.errors import CorpusError
from corpus_builder.build import build
from corpus_builder.cli import main
from corpus_builder.manifest import verify

pytestmark = pytest.mark.slow


def whole_or_closed(directory: Path) -> None:
    """Whatever opens below `directory` is complete."""
    for path in [directory, *directory.rglob("*")]:
        if path.is_dir():
            with contextlib.suppress(CorpusError):
                Corpus.open(path)
                assert verify(path)["problems"] == {}, path


MODULES = "import corpus_builder.build as b\nimport corpus_builder.content as c\n"

MOMENTS = {
    "when staged": "b.database = die",
    "before the manifest": "b.write_json = die",
    "between two renames": between_two_renames("c"),
    "after the rename": "workdir._sync_one = lambda path: path.name == sys.argv[-1] and die()",
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_sigkill(tmp_path: Path, mini: Path, mini_records: Any, moment: str) -> None:
    data, place = tmp_path / "data", tmp_path / "place"
    data.mkdir(), place.mkdir()
    papers, surveys = mini_records.write(data)
    output = place / "c"
    build(SMALL, output)
    old, new = contents(output), contents(mini)
    options = ["build", "jsonl", "--papers", str(papers), "--surveys", str(surveys)]
    options += ["--output", str(output), "--overwrite"]
    code = MAIN.replace("main()", "main(sys.argv[1:-1])")
    kill_at(MODULES + MOMENTS[moment], code, [*options, place.name])
    whole_or_closed(place)
    if moment != "between two renames":
        assert contents(output) == (new if moment == "after the rename" else old)
    assert main(options) == 0
    assert contents(output) == new
    assert names(place) == ["c"]


def test_a_command_that_was_killed_when_it_was_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["build", *WORLD, "--output", str(tmp_path / "c")]
    kill_at("workdir._sync_one = lambda path: path.name == sys.argv[-1] and die()",
            MAIN.replace("main()", "main(sys.argv[1:-1])"), [*line, tmp_path.name])  # fmt: skip
    before = contents(tmp_path / "c")
    assert main(line) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("built before from the same input")
    assert contents(tmp_path / "c") == before
    other = ["build", "world", "--seed", "8", "--papers", "400", "--output", str(tmp_path / "c")]
    assert main(other) == 2
    assert "already contains a corpus" in capsys.readouterr().err


QUERY = """
import os, signal, sys, threading
import corpus_builder.content as c
def query(connection, output):
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    connection.execute("SELECT sum(hash(range) % 7) FROM range(99999999999)")
c.write_links = query
"""


def test_ctrl_c_in_a_query(tmp_path: Path) -> None:
    result = arena_corpus(*WORLD, "--output", tmp_path / "c", code=QUERY + MAIN)
    assert (result.returncode, result.stderr) == (130, "arena-corpus: interrupted.\n")
    assert names(tmp_path) == []
