"""Topics with a name: runs say it, and refuse it for other content."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import arena
from arena import cli
from arena.errors import ArenaError, CorpusError, DataError
from arena.tasks import FrozenTopics
from corpus_builder.cli import main


@pytest.fixture
def named(mini: Path, tmp_path: Path) -> Path:
    path = tmp_path / "two.tasks.json"
    words = ["freeze", str(mini), "--name", "two@2026.11", "--topics", "sv:2,sv:1"]
    assert main([*words, "--output", str(path)]) == 0
    return path


def test_the_file_has_ids_days_and_hashes_and_no_label(named: Path, mini: Path) -> None:
    manifest = json.loads((mini / "manifest.json").read_text())
    content = json.loads(named.read_text())
    assert content.pop("sha256") == FrozenTopics.read(named).identity["sha256"]
    assert content == {
        "name": "two@2026.11",
        "corpus": manifest["content_sha256"],
        "tasks": manifest["tasks_sha256"],
        "topics": {"sv:1": "2022-06-15", "sv:2": "2021-12-31"},
    }


def test_a_run_of_it_and_its_results_name_it(
    named: Path, mini: Path, tmp_path: Path, capsys: Any
) -> None:
    words = [
        "--corpus",
        mini,
        "--task",
        "discovery",
        "--agent",
        "title",
        "--output",
        tmp_path / "r",
    ]
    capsys.readouterr()
    assert cli.main(["run", *map(str, words), "--topics", str(named)]) == 0
    identity = FrozenTopics.read(named).identity
    assert f"Topics of two@2026.11 ({identity['sha256'][:12]})." in capsys.readouterr().out
    for file in ("manifest.json", "metrics.json"):
        assert json.loads((tmp_path / "r" / file).read_text())["task_set"] == identity
    assert json.loads((tmp_path / "r/manifest.json").read_text())["topics"] == ["sv:2", "sv:1"]
    assert arena.verify(tmp_path / "r", mini).verified
    listed = arena.run(mini, "discovery", "title", tmp_path / "l", topics=["sv:1", "sv:2"])
    assert "task_set" not in listed


def test_other_content_is_refused(named: Path, tiny: Path, tmp_path: Path) -> None:
    frozen = FrozenTopics.read(named)
    with pytest.raises(CorpusError, match=r"'two@2026.11' is of corpus .* these are"):
        arena.run(tiny, "discovery", "title", tmp_path / "r", topics=frozen)
    assert not (tmp_path / "r").exists()


def test_a_file_that_was_edited_is_refused_and_any_other(named: Path) -> None:
    edited = named.read_text().replace("sv:1", "sv:3")
    told = {"it was edited": edited, "name is missing": "{}", "Expecting": "{", "it=": "[]"}
    for why, text in told.items():
        named.write_text(text)
        with pytest.raises(DataError, match=why):
            FrozenTopics.read(named)
    named.unlink()
    with pytest.raises(DataError, match=r"there is no file '.*json'; `arena-corpus freeze` writes"):
        FrozenTopics.read(named)


@pytest.mark.parametrize("name", ["surveys", "a b@1", "../a@1", "@1", "a@"])
def test_a_name_has_a_version(name: str) -> None:
    with pytest.raises(ArenaError, match="write NAME@VERSION"):
        FrozenTopics.freeze(name, {}, {})


def test_an_experiment_and_its_runs_name_it(
    named: Path, mini: Path, tmp_path: Path, capsys: Any
) -> None:
    table = {
        "task": "discovery",
        "rows": {"Title": "title"},
        "title": "T",
        "metrics": {"R": "recall@10"},
    }
    config = tmp_path / "one.yaml"
    config.write_text(json.dumps({"name": "one", "retrievers": {"BM25": "bm25"},
                                  "tables": {"Only": table}}))  # fmt: skip
    words = ["experiment", str(config), "--corpus", str(mini), "--output", str(tmp_path / "e")]
    assert cli.main([*words, "--topics", str(named)]) == 0, capsys.readouterr().err
    identity = FrozenTopics.read(named).identity
    (run,) = (tmp_path / "e" / "runs").rglob("manifest.json")
    assert json.loads(run.read_text())["task_set"] == identity
    assert json.loads((tmp_path / "e/experiment.json").read_text())["task_set"] == identity
    assert arena.verify(run.parent, mini).verified
    tables = json.loads((tmp_path / "e/tables.json").read_text())
    assert tables["sha256"][f"topics {identity['name']}"] == identity["sha256"]
    said = f"- topics {identity['name']}: `{identity['sha256']}`"
    assert said in (tmp_path / "e/tables.md").read_text()
