"""``arena benchmarks``: rows of agents without a model, and published figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.cli import main
from arena_suites.commands.benchmarks import published_table
from arena_suites.published import published


def test_rows_of_a_corpus_and_of_its_runs(synthetic: Path, tmp_path: Path, capsys: Any) -> None:
    words = ["benchmarks", "--benchmark", f"toy={synthetic}", "--output", str(tmp_path)]
    words += ["--topics", "2", "--agents", "title,oracle", "--json"]
    assert main(words) == 0
    (result,) = json.loads(capsys.readouterr().out)["benchmarks"]
    title, oracle = result["rows"]
    played = arena.run(synthetic, "discovery", "title", tmp_path / "run", topics=2)
    assert title["recall@100"] == pytest.approx(played["mean"]["recall@100"])
    assert title["95 % from"] <= title["recall@100"] <= title["to"]
    assert title["of all gold"] <= title["recall@100"]
    assert oracle["recall@100"] == played["ceiling"]["recall@100"]
    assert (result["topics"], title["searches"], oracle["searches"]) == ("2 topics", 1, 0)
    assert "| title" in (tmp_path / "benchmarks.md").read_text()


@pytest.mark.parametrize(
    ("name", "more", "message"),
    [
        ("toy", "--agents titel", "no row 'titel'. Name some of random, title"),
        ("toy", "--topics -1", "topics=-1"),
        ("../toy", "", "'../toy': it names a folder of --output"),
        ("toy", "--agents hybrid", "needs an index `dense`"),
    ],
)
def test_what_cannot_be_played_is_refused(
    mini: Path, tmp_path: Path, capsys: Any, name: str, more: str, message: str
) -> None:
    words = ["benchmarks", "--benchmark", f"{name}={mini}", "--output", str(tmp_path / "o")]
    assert main([*words, *more.split()]) == 2
    assert message in capsys.readouterr().err


def test_published_figures_say_how_they_compare() -> None:
    every = list(published())
    named = {figure["benchmark"] for figure in every}
    assert {"autoscholarquery", "scholargym", "deepscholar", "litsearch", "SurGE"} <= named
    for figure in every:
        assert figure["comparability"] in ("same corpus", "other corpus", "undated")
        assert figure["source"]
        assert {len(row) for row in figure["rows"].values()} == {len(figure["columns"])}
    collected, retrieved = published("surge")
    assert retrieved["columns"] == ["recall@20", "recall@100", "recall@1000"]
    assert "AutoSurvey" in collected["rows"]
    assert "BM25" in retrieved["rows"]


def test_a_table_of_published_figures() -> None:
    figure = {"benchmark": "x", "source": "S, Table 1", "comparability": "undated",
              "columns": ["recall", "F1"], "rows": {"A": [0.5, 1.0], "B": [None, 0.1]}}  # fmt: skip
    lines = published_table(figure).splitlines()
    assert lines[0] == "**x, published (not comparable: undated)**: S, Table 1."
    assert [cell.strip() for cell in lines[-1].split("|")[1:-1]] == ["B", "-", "0.1"]
