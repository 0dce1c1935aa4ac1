"""Configurations of experiments: what is read, and what is refused before anything is played."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

import arena
from arena.cli import main
from arena.cli.repair import build_command
from arena.errors import ArenaError, CorpusError, DataError, UnknownNameError
from arena_suites.experiments import preview, read_experiment, run_experiment

ROOT = Path(arena.__file__).parent.parent
PAPER = ROOT / "configs" / "researcharena.yaml"

SMALL = """\
name: small
topics: 2
retrievers:
  BM25: bm25
tables:
  1:
    task: discovery
    metrics: [recall@10]
    rows:
      Title: title
"""


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SMALL)
    return path


def edited(path: Path, old: str, new: str) -> Path:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return path


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\nb: 2\na: 3\n", "is not YAML: .*the key a is given twice"),
        ("- 1\n", "contains no experiment"),
        ("a: !!python/object/apply:os.system [ls]\n", "is not YAML"),
    ],
)
def test_files_that_are_no_configuration(tmp_path, text, told):
    path = tmp_path / "c.yaml"
    path.write_text(text)
    with pytest.raises(DataError, match=told):
        read_experiment(path)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("topics: 2", "topic: 2", r"small.yaml', topic: no such key. Did you mean 'topics'"),
        ("topics: 2", "seed: -1", "small.yaml', seed: expected a number >= 0, not -1"),
        ("topics: 2", "budget: {max_search: 3}", "budget.max_search: .*'max_searches'"),
        ("Title: title", "Title: {agent: title, group: a}", "no `group`"),
        (
            "Title: title",
            "Title: {agent: title, start_from: Titel}",
            "start_from: .*Did you mean 'Title'",
        ),
        ("      Title: title", "      Title: title\n    paper: {source: x, header: [a, b], "
         "rows: [[c]]}", "expected 2 cells"),
    ],
)  # fmt: skip
def test_forms_are_checked_with_file_and_key(config, old, new, told):
    with pytest.raises(DataError, match=told):
        read_experiment(edited(config, old, new))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Title: title", "Title: titel", "tables.1.rows.Title: no agent named 'titel'. Did"),
        ("Title: title", "Title: {agent: title, options: {depth: 3}}", "no option 'depth'"),
        ("recall@10", "recal@10", "tables.1.metrics.recal@10: .*'recall'"),
        ("recall@10", "heading_soft_recall", "scores a map, and the task 'discovery'"),
        ("Title: title", "Zero: zero-shot", "name one as `model` under `llm`"),
        ("Title: title", "Zero: zero-shot\nllm: {model: m, temprature: 0}", "'temperature'"),
    ],
)
def test_names_are_looked_up_before_anything_is_played(
    config, synthetic, tmp_path, capsys, monkeypatch, old, new, told
):
    monkeypatch.chdir(tmp_path)
    edited(config, old, new)
    with pytest.raises(ArenaError, match=told):
        preview(config, synthetic, tmp_path / "out")
    assert main(["experiment", str(config), "--corpus", str(synthetic), "--output", "out"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_missing_index_is_told_with_the_command_before_anything_is_played(
    config, synthetic, tmp_path
):
    edited(config, "  BM25: bm25", "  BM25: bm25\n  Dense: dense\n  Two: hybrid(bm25,lucene)")
    with pytest.raises(CorpusError) as caught:
        run_experiment(config, synthetic, tmp_path / "out")
    assert [build_command(part) for part in caught.value.parts] == [
        f"arena-corpus index {synthetic} --engine {engine}" for engine in ("dense", "lucene")
    ]
    assert not (tmp_path / "out").exists()
    swapped = {"retrievers.Dense": "bm25", "retrievers.Two": "bm25"}
    assert len(preview(config, synthetic, tmp_path / "out", changes=swapped)) == 3


def test_what_is_given_for_one_call_goes_before_the_file(config, synthetic, tmp_path):
    def told(**given):
        return preview(config, synthetic, tmp_path / "out", **given)

    assert [p.episodes for p in told()] == [2]
    assert [p.episodes for p in told(topics=3)] == [3]
    assert [p.episodes for p in told(changes={"topics": 4})] == [4]
    rows = {"tables.1.rows.Random": "random"}
    assert [p.agent for p in told(changes=rows)] == ["title", "random"]
    assert [p.agent for p in told(changes=rows, agents=["Random"])] == ["random"]
    assert [p.agent for p in told(changes=rows, agents=["title"])] == ["title"]
    with pytest.raises(UnknownNameError, match="Did you mean 'Title'"):
        told(agents=["Titel"])
    with pytest.raises(UnknownNameError, match="no table '7'"):
        told(tables=["7"])
    with pytest.raises(DataError, match=r"name.first cannot be set: name is 'small'"):
        told(changes={"name.first": 1})
    with pytest.raises(DataError, match=r"sead: no such key. Did you mean 'seed'"):
        told(changes={"sead": 1})


def test_a_shipped_configuration_is_found_by_its_name(tmp_path, monkeypatch):
    """From any directory, as from a wheel: the files are data of the package."""
    monkeypatch.chdir(tmp_path)
    whole = read_experiment(PAPER).model_dump()
    for name in ("researcharena", "researcharena.yaml", "configs/researcharena.yaml"):
        assert read_experiment(name).model_dump() == whole
    with pytest.raises(DataError, match=r"exist\. Did you mean 'researcharena' or 'litsearch'\?"):
        read_experiment("elsewhere/researcharena")
    (tmp_path / "researcharena").write_text(SMALL)
    assert read_experiment("researcharena").name == "small"  # a file of the user comes first
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert "configs/*.yaml" in project["tool"]["setuptools"]["package-data"]["arena"]


MINE = """\
from arena import Researcher

class Mine(Researcher):
    def discover(self, desk):
        desk.ranking = [hit.id for hit in (yield from desk.search("model"))]
"""


def test_an_agent_of_a_file_on_all_tasks(synthetic, tmp_path, monkeypatch, capsys):
    """Its path is relative to where the command is typed, else to the configuration."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "all_mine.py").write_text(MINE)
    mine = {"Mine": "all_mine.py:Mine"}
    planned = preview("all-tasks", synthetic, tmp_path / "out", add=mine, topics=1)
    tasks = ["discovery", "selection", "organization", "pipeline", "report"]
    agents = ["title", "scout", "random", "ceiling", "mine"]
    assert [p.run for p in planned] == [f"runs/{t}/{a}/bm25" for t in tasks for a in agents]
    some = ["--tables", "discovery,report", "--agents", "Mine,title", "--topics", "1"]
    command = ["experiment", "all-tasks", "--corpus", str(synthetic), "--output", "out", *some]
    assert main([*command, "--add", "Mine=all_mine.py:Mine", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for table in found["tables"].values():
        assert [row[0] for row in table["blocks"][0]["rows"]] == ["Title", "Mine"]
    (tmp_path / "next.py").write_text(MINE.replace("class Mine", "class Next"))
    (tmp_path / "small.yaml").write_text(SMALL.replace("Title: title", "Next: next.py:Next"))
    monkeypatch.chdir(Path("/"))
    assert [p.agent for p in preview(tmp_path / "small.yaml", synthetic, tmp_path / "out")] == [
        "Next"
    ]
