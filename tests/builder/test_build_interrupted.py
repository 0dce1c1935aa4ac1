"""Building, killed or interrupted, in processes of their own: the same command repairs it."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest
from helpers import MAIN, SMALL, contents, names
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
    "after the rename": "workdir.sync_path = lambda path: path.name == sys.argv[-1] and die()",
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
