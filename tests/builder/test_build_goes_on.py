"""What a killed build leaves, and what is damaged or full, does not stop the same command."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from helpers import MAIN, WORLD, arena_corpus, contents, names
from kills import kill_at
from toy_release import ToyRelease, write_toy

from arena._internal.files import TEMPORARY_SUFFIX
from corpus_builder.cli import main
from corpus_builder.manifest import verify
from corpus_builder.stages import plan, read_config, run_stages
from corpus_builder.world import WorldConfig

LEFTOVER = f".0123456789abcdef{TEMPORARY_SUFFIX}"


def leave(*folders: Path) -> None:
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / LEFTOVER).write_text("{")


def test_a_temporary_file_in_every_folder_of_stages(tmp_path: Path) -> None:
    toy = write_toy(tmp_path / "release", WorldConfig(seed=3, papers=300, surveys=4))
    output, work = tmp_path / "c", tmp_path / "c.stages"

    def run(config: Any) -> None:
        leave(work, *(path for path in work.rglob("*") if path.is_dir()))
        run_stages(plan("toy", ToyRelease(toy._directory), output, config, workers=1))

    changes = {"full_text_only": False, "surveys.judge": "all"}
    run(read_config({}, changes))
    whole = contents(output)
    (work / "index" / "stage.json").unlink()
    run(read_config({}, changes))
    run(read_config({}, {**changes, "surveys.title": "survey|review"}))
    run(read_config({}, changes))
    assert contents(output) == whole


@pytest.mark.slow
@pytest.mark.parametrize(
    "moment",
    [
        "workdir._sync_one = lambda path: path.name == sys.argv[-1] and die()",
        "workdir.clear_building = lambda *a, **o: "
        "(Path(sys.argv[-2]) / 'manifest.json').exists() and die()",
    ],
)
def test_a_command_that_was_killed_when_it_was_done(tmp_path: Path, moment: str) -> None:
    place = tmp_path / "place"
    place.mkdir()
    line = [*WORLD, "--output", place / "c"]
    kill_at(moment, MAIN.replace("main()", "main(sys.argv[1:-1])"), ["build", *line, place.name])
    before = contents(place / "c")
    again = arena_corpus(*line)
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.splitlines()[-1].startswith("built before from the same input")
    assert contents(place / "c") == before
    assert names(place) == ["c"]
    other = arena_corpus("world", "--seed", 8, "--papers", 400, "--output", place / "c")
    assert other.returncode == 2 and "already holds a corpus" in other.stderr
    assert names(place) == ["c"]


@pytest.mark.parametrize("name", ["corpus.parquet", "stage.json", "steps.json"])
def test_a_damaged_stage_is_named(tmp_path: Path, name: str) -> None:
    toy = write_toy(tmp_path / "release", WorldConfig(seed=3, papers=300, surveys=4))
    config = read_config({}, {"full_text_only": False, "surveys.judge": "all"})

    def run(only: str | None = None) -> None:
        run_stages(plan("toy", toy, tmp_path / "c", config, workers=1), only)

    run("parse")
    damaged = tmp_path / "c.stages" / "parse" / name
    damaged.write_bytes(b"{damaged")
    if name == "steps.json":  # as of a killed run
        (tmp_path / "c.stages" / "parse" / "stage.json").unlink()
    if name.endswith(".json"):  # the stage runs again
        run()
        assert verify(tmp_path / "c")["problems"] == {}
        return
    with pytest.raises(Exception, match=r"the build of '.*/c' stopped: .*[Rr]emove the damaged"):
        run()


def test_a_damaged_manifest_is_named(mini: Path, tmp_path: Path, capsys: Any) -> None:
    corpus = Path(shutil.copytree(mini, tmp_path / "c"))
    manifest = json.loads((corpus / "manifest.json").read_text())
    for key, value in (("counts", []), ("source", "x"), ("dates", None), ("indexes", 3)):
        (corpus / "manifest.json").write_text(json.dumps({**manifest, key: value}))
        for command in ("info", "card"):
            assert main([command, str(corpus)]) == 2, (command, key)
            assert f"{corpus!s}/manifest.json' " in capsys.readouterr().err


def test_a_target_that_cannot_be_written_is_named_as_given(
    mini_records: Any, tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    papers, surveys = mini_records.write(tmp_path)
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    line = ["build", "jsonl", "--papers", str(papers), "--surveys", str(surveys)]
    for command in (line, ["build", "s2orc", "--input", "release"]):
        (tmp_path / "release" / "papers").mkdir(parents=True, exist_ok=True)
        (tmp_path / "release" / "papers" / "0.gz").touch()
        assert main([*command, "--output", "file/c"]) == 2
        assert "'file/c'" in capsys.readouterr().err
