"""Mistakes in files of JSON lines that do not stop a build, and corpora without surveys."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.errors import DataError, NoLabelsError
from corpus_builder.build import build
from corpus_builder.cli import main
from corpus_builder.records import PAPER_KEYS, SURVEY_KEYS, nearest_key
from corpus_builder.sources.jsonl import JsonLines

PAPERS = [
    {"id": "a", "title": "Dense retrieval", "summary": "Of nets.", "date": "2019", "x1": 1},
    {"id": "b", "title": "Sparse retrieval", "summary": "Of terms.", "date": "2020"},
]
SURVEYS = [{"id": "s", "title": "Survey", "date": "2022", "references": ["a"], "refs": []}]


def write(path: Path, records: list[dict[str, Any]], encoding: str = "utf-8") -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding=encoding)
    return path


def test_unknown_keys_are_reported_once_with_the_nearest(tmp_path: Path, capsys: Any) -> None:
    papers, surveys = write(tmp_path / "p", PAPERS), write(tmp_path / "s", SURVEYS)
    output = str(tmp_path / "c")
    line = ["build", "jsonl", "--papers", str(papers), "--surveys", str(surveys)]
    assert main([*line, "--output", output]) == 0
    text = capsys.readouterr().out
    assert text.count("is not read") == 3
    assert "the key 'summary' of 2 papers is not read. Did you mean 'abstract'?" in text
    assert "the key 'x1' of 1 paper is not read.\n" in text
    assert "the key 'refs' of 1 survey is not read. Did you mean 'references'?" in text
    assert "0 abstracts, 0 sections of full text" in text
    assert main(["info", output]) == 0
    assert capsys.readouterr().out.count("is not read") == 3


def test_known_keys_are_no_warning(tmp_path: Path) -> None:
    record = {"id": "a", "title": "A", "abstract": "Of A.", "doi": "10.1/2", "date": "2001"}
    surveys = [{"id": "s", "title": "S", "date": "2002", "abstract": "", "references": ["a"]}]
    manifest = build(
        JsonLines(write(tmp_path / "p", [record]), write(tmp_path / "s", surveys)), tmp_path / "c"
    )
    assert "unknown_keys" not in manifest and manifest["counts"]["abstracts"] == 1


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("Title", "title"), ("abstrct", "abstract"), ("year", "date"), ("citations", "references"),
        ("text", "sections"), ("venues", "venue"), ("zzz", None), ("volume", None),
        ("pages", None), ("type", None), ("mind_map", None), ("idx", None), ("data", None),
    ],
)  # fmt: skip
def test_the_nearest_key(key: str, meant: str | None) -> None:
    assert nearest_key(key, PAPER_KEYS) == meant
    assert nearest_key("typology", SURVEY_KEYS) == "mind_map"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named(tmp_path: Path, encoding: str) -> None:
    papers, surveys = write(tmp_path / "p", PAPERS, encoding), write(tmp_path / "s", SURVEYS)
    with pytest.raises(DataError, match=r"/p' is not UTF-8 text.* becomes UTF-8"):
        build(JsonLines(papers, surveys), tmp_path / "c")


def test_a_corpus_without_surveys_is_for_searching(tmp_path: Path, capsys: Any) -> None:
    papers, output = write(tmp_path / "p", PAPERS), tmp_path / "c"
    assert main(["build", "jsonl", "--papers", str(papers), "--output", str(output)]) == 0
    text = capsys.readouterr().out
    assert "there is no survey task: the corpus can be searched, not scored on" in text
    view = arena.Corpus.open(output).at("2021")
    assert [hit.id for hit in view.search("dense retrieval", k=1)] == ["a"]
    assert view.paper("b").title == "Sparse retrieval"
    assert main(["verify", str(output)]) == 0
    assert main(["card", str(output)]) == 0
    for task in ("discovery", "selection", "organization"):
        with pytest.raises(NoLabelsError, match="has no topics: it can be searched and read"):
            arena.run(output, task, "random", tmp_path / "run")
