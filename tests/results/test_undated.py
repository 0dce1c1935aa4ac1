"""Results over papers with one day in place of their dates say "undated" wherever they stand."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from helpers import Memory

import arena
import corpus_builder.cli
from arena.cli import main
from arena.tasks import TaskSet
from corpus_builder.build import build
from corpus_builder.dataset.export import export_dataset

DAY = {"date": "1970-01-01", "date_stands_in": True}
WORDS = ("lattices", "reefs", "kernels", "tides")
PAPERS = [{"id": f"p{n}", "title": f"On {word}", **DAY} for n, word in enumerate(WORDS)]
NONE = {"id": "none", "title": "On lattices without a day"}
SURVEYS = [
    {"id": f"s{n}", "title": f"About {word}", "date": "2020-01-01", "references": [f"p{n}", "none"]}
    for n, word in enumerate(WORDS)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with an undated corpus, the same with dates, and two runs on each."""
    folder = tmp_path_factory.mktemp("marks")
    dated = [paper | {"date_stands_in": False} for paper in PAPERS]
    for name, papers in ("undated", PAPERS), ("dated", dated):
        build(Memory([*papers, NONE], SURVEYS), folder / name)
        for agent in ("title", "random"):
            arena.run(folder / name, "discovery", agent, folder / f"{name}-{agent}")
    return folder


def shown(capsys: pytest.CaptureFixture[str], *words: object, program: object = main) -> str:
    assert program([str(word) for word in words]) == 0
    return capsys.readouterr().out


def both(folder: Path, capsys: pytest.CaptureFixture[str], line: str, program: object = main):
    """Return what a command says of the undated corpus; it must not say so of the dated one."""
    texts = []
    for name in ("dated", "undated"):
        words = [word.replace("CORPUS", str(folder / name)) for word in line.split()]
        texts.append(shown(capsys, *words, program=program))
    assert "undated" not in texts[0].replace("4 undated, surveys or too late", "")
    return texts[1]


COMPARED = (
    "Mean scores of the task discovery (undated)",
    "recall@100 over 4 undated topics",
    "that were shown after n searches (undated)",
    "Effort of each run over 4 undated topics",
)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("list topics --corpus CORPUS", ["2020-01-01 (undated)"]),
        ("run --corpus CORPUS --task discovery --agent title --output CORPUS-title",
         ["discovery (undated)", "Mean over 4 of 4 undated topics"]),
        ("rescore CORPUS-title --corpus CORPUS", ["discovery (undated)"]),
        ("score CORPUS-title/run.trec --corpus CORPUS --task discovery", ["discovery (undated)"]),
        ("compare CORPUS-title CORPUS-random", COMPARED),
        ("compare CORPUS-title CORPUS-random --format markdown", COMPARED[:3]),
        ("compare CORPUS-title CORPUS-random --format latex", COMPARED[:3]),
        ("compare CORPUS-title CORPUS-random --format csv", ['discovery (undated),"title, bm25"']),
        ("compare CORPUS-title CORPUS-random --json", ['"unit": "undated topic"']),
        ("profile CORPUS", ["4 undated topics"]),
        ("credit CORPUS-title --corpus CORPUS", ["Headline: recall@100 (undated)"]),
    ],
)  # fmt: skip
def test_tables_of_arena(folder, capsys, line, expected):
    text = both(folder, capsys, line)
    assert [part for part in expected if part not in text] == []


def test_every_table_of_the_pages(folder, capsys, tmp_path):
    for name in ("undated", "dated"):
        runs = [str(folder / f"{name}-{agent}") for agent in ("title", "random")]
        given = ["--corpus", str(folder / name), "--output"]
        shown(capsys, "view", *runs, *given, tmp_path / f"{name}.html")
        shown(capsys, "board", runs[0], *given, tmp_path / name, "--baselines", "random")
        pages = [tmp_path / f"{name}.html", *(tmp_path / name / "discovery").glob("[cpr]*.html")]
        captions = [re.findall("<caption>(.*?)</caption>", page.read_text()) for page in pages]
        assert len(pages) > 5 and [len(each) > 1 for each in captions].count(False) == 2  # run-N
        marked = ["undated" in caption for each in captions for caption in each]
        assert {*marked} == {name == "undated"}


def test_the_page_of_a_run_that_is_not_finished(folder, capsys, tmp_path):
    for name in ("undated", "dated"):
        run = shutil.copytree(folder / f"{name}-title", tmp_path / name)
        manifest = json.loads((run / "manifest.json").read_text())
        (run / "manifest.json").write_text(json.dumps(manifest | {"files": None}))
        shown(capsys, "view", run, "--corpus", folder / name, "--output", tmp_path / "page.html")
        heading = re.search("<h1>.*</h1>", (tmp_path / "page.html").read_text())
        assert ("4 undated topics" in heading[0]) == (name == "undated")


def test_tables_of_an_experiment(folder, capsys, tmp_path):
    config = tmp_path / "small.yaml"
    table = {"title": "T", "task": "discovery", "metrics": ["recall@10"], "rows": {"A": "title"}}
    config.write_text(json.dumps({"name": "small", "tables": {"1": table}}))
    line = f"experiment {config} --corpus CORPUS --output CORPUS-experiment"
    assert "Table 1 (undated). T." in both(folder, capsys, line)
    for name in "tables.md", "tables.tex":
        assert "(undated)" in (folder / "undated-experiment" / name).read_text()


def test_files_of_a_run(folder):
    for name in ("dated", "undated"):
        run = folder / f"{name}-title"
        manifest = json.loads((run / "manifest.json").read_text())
        tags = {line.split()[-1] for line in (run / "run.trec").read_text().splitlines()}
        assert manifest.get("undated", False) == (name == "undated")
        assert tags == {"title-undated" if name == "undated" else "title"}
        assert arena.runs.verify(run, folder / name).verified


def test_exported_results_are_read_back_as_undated(folder, capsys, tmp_path):
    run, corpus = folder / "undated-title", folder / "undated"
    given = ["export", "results", run, "--corpus", corpus, "--format"]
    shown(capsys, *given, "eee", "--output", tmp_path)
    shown(capsys, *given, "inspect", "--output", tmp_path / "run.eval")
    shown(capsys, *given, "hf", "--output", tmp_path / "hf.yaml", "--dataset", "a/b")
    assert "topics; undated; agent title" in " ".join((tmp_path / "hf.yaml").read_text().split())
    (samples,) = tmp_path.rglob("*_samples.jsonl")
    for file in (samples, tmp_path / "run.eval"):
        text = shown(capsys, "compare", f"here={run}", f"there={file}")
        assert "(undated)" in text
        assert "(undated)" in shown(capsys, "compare", f"there={file}")


def test_the_corpus_says_so_and_its_data_set_too(folder, capsys, tmp_path, monkeypatch):
    config = pytest.importorskip("datasets").config
    for name, value in {"HF_HUB_OFFLINE": True, "TORCH_AVAILABLE": False}.items():
        monkeypatch.setattr(config, name, value)
    monkeypatch.setattr(config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr("corpus_builder.card.page.find_spec", lambda _: None)  # draws nothing
    program = corpus_builder.cli.main
    assert "undated: 4 papers have one day" in shown(capsys, "info", folder / "undated",
                                                     program=program)  # fmt: skip
    assert "in place of a date" not in shown(capsys, "info", folder / "dated", program=program)
    export_dataset(folder / "undated", tmp_path / "exported")
    assert "Undated: 4 papers" in (tmp_path / "exported" / "README.md").read_text()
    line = ["build", "dataset", tmp_path / "exported", "--output", tmp_path / "again"]
    assert "undated: 4 papers have one day" in shown(capsys, *line, program=program)
    again = TaskSet(tmp_path / "again")
    assert again.undated and again.unit == "undated topic"
    assert shown(capsys, "verify", tmp_path / "again", program=program)


def test_papers_without_any_day_stay_out_of_reach(folder):
    for name in ("dated", "undated"):
        view = arena.Corpus.open(folder / name).at("2030-01-01")
        assert "p0" in view and "none" not in view
        assert TaskSet(folder / name).references("s0") == {"p0": "gold", "none": "undated"}
