"""Figures of experiments: what is drawn, where, and what is refused."""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.errors import DataError
from arena.results.experiments import read_experiment, replay_experiment
from arena.results.experiments.config import directory_of
from arena.results.experiments.figures import make_figures, spearman
from arena.results.experiments.grid import reported_metrics

CONFIG: dict[str, Any] = {
    "name": "figures",
    "retrievers": {"BM25": "bm25"},
    "tables": {
        "T": {
            "task": "discovery",
            "metrics": {"R": "recall@10", "P": "precision@10", "N": "ndcg@10"},
            "rows": dict.fromkeys("abcd", "title"),
            "more": {"floor": "random"},
        }
    },
    "figures": {
        "1": {"kind": "bars", "table": "T", "metrics": ["R"], "title": "Recall of all"},
        "2": {"kind": "scatter", "table": "T", "x": "R", "y": "P", "size": "N"},
        "3": {"kind": "scatter", "table": "T", "x": "R", "y": "P", "trend": True},
        "4": {"kind": "bars", "table": "T"},
    },
}
# R, P and N of each row: the ranks of P are 1, 3, 2, 4, so rho = 1 - 6 (0 + 1 + 1 + 0) / (4 * 15).
MEANS = {"a": (0.1, 0.2, 0.04), "b": (0.2, 0.6, 0.16), "c": (0.3, 0.4, None), "d": (0.4, 0.8, 0.0),
         "floor": (0.0, 1.0, 0.16)}  # fmt: skip
RHO = 0.8
SVG = "{http://www.w3.org/2000/svg}"


def drawn(means: Any = MEANS) -> tuple[Any, dict[str, set[str]]]:
    """Return the figures and, by name, the texts of their pictures."""
    experiment = read_experiment(copy.deepcopy(CONFIG))
    scores = {
        directory_of("discovery", label, "BM25"): {
            "mean": dict(zip(("recall@10", "precision@10", "ndcg@10"), values, strict=True))
        }
        for label, values in means.items()
    }
    figures, files = make_figures(experiment, reported_metrics(experiment), scores)
    return figures, {
        name: {e.text for e in ET.fromstring(files[figures[name]["file"]]).iter(f"{SVG}text")}
        for name in figures
    }


def test_the_names_and_numbers_of_the_runs_are_in_the_pictures():
    _, pictures = drawn()
    assert {"Recall of all", "R", *MEANS, "0.100", "0.200", "0.300", "0.400"} <= pictures["1"]
    assert {"R", "P", "N", "-", "0.160"} <= pictures["4"]  # one value is unknown
    assert {"R", "P", "a (0.040)", "c", "floor (0.160)"} <= pictures["2"]


def test_a_trend_is_of_the_rows_alone():
    figures, pictures = drawn()
    assert figures["3"]["spearman"] == {
        "rho": pytest.approx(RHO), "p": pytest.approx(0.2), "runs": 4
    }  # fmt: skip
    assert "Spearman's ρ = 0.80, p = 0.200, 4 runs" in pictures["3"]
    assert "least squares, without grey" in pictures["3"]


def test_too_few_runs_have_no_trend():
    figures, pictures = drawn(means={label: MEANS[label] for label in ("a", "b", "floor")})
    assert figures["3"]["spearman"] == {"rho": None, "p": None, "runs": 2}
    assert "Spearman's correlation is not defined for 2 runs" in pictures["3"]
    assert "least squares, without grey" not in pictures["3"]
    assert spearman([], "R", "P") == {"rho": None, "p": None, "runs": 0}
    assert drawn(means={})[1].keys() == CONFIG["figures"].keys()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"figures.1.table": "U"}, r"figures.1.table: no such table"),
        ({"figures.1.metrics": ["S"]}, r"figures.1.metrics: the table has no metric 'S'"),
        ({"figures.2.x": "S"}, r"figures.2.x: the table has no metric 'S'"),
        ({"figures.2.y": ""}, r"figures.2.y: the table has no metric ''"),
    ],
)
def test_figures_that_cannot_be_drawn_are_refused(changes, message):
    with pytest.raises(DataError, match=message):
        read_experiment(copy.deepcopy(CONFIG), changes)


def test_figures_are_of_the_tables_that_are_made(world, tmp_path):
    config = copy.deepcopy(CONFIG)
    config["tables"]["U"] = {"task": "discovery", "metrics": ["mrr"], "rows": {"a": "title"}}
    config["figures"]["5"] = {"kind": "bars", "table": "U"}
    output = tmp_path / "out"
    found = arena.run_experiment(config, world, output, tables=["T"], surveys=3)
    assert list(found["figures"]) == ["1", "2", "3", "4"]
    text = (output / "tables.md").read_text()
    assert "## Figure 1. Recall of all.\n\n![Figure 1. Recall of all.](figure-1.svg)" in text
    files = sorted(path.name for path in output.glob("figure-*"))
    assert files == [f"figure-{number}.{kind}" for number in "1234" for kind in ("pdf", "svg")]
    assert (output / "figure-3.pdf").read_bytes().startswith(b"%PDF")
    assert replay_experiment(output, world).equal
    arena.run_experiment(config, world, output, tables=["U"], surveys=3)
    assert {path.name for path in output.glob("figure-*")} == {"figure-5.pdf", "figure-5.svg"}


def test_without_matplotlib_the_tables_say_what_is_missing(world, tmp_path, monkeypatch):
    monkeypatch.setattr("arena.results.experiments.figures.find_spec", lambda name: None)
    found = arena.run_experiment(copy.deepcopy(CONFIG), world, tmp_path / "out", surveys=2)
    assert found["figures"]["1"]["file"] is None and found["figures"]["3"]["spearman"]["runs"] == 4
    assert "pip install 'researcharena[plots]'" in (tmp_path / "out" / "tables.md").read_text()


def test_the_experiment_of_taxobench_plays_without_a_model(world, tmp_path):
    output = tmp_path / "out"
    agents = ["clustering", "organizer", "scout", "random", "oracle"]
    found = arena.run_experiment("taxobench", world, output, surveys=2, agents=agents)
    rows = {
        (name, row[0]): dict(zip(block["header"], row, strict=True))
        for name, table in found["tables"].items()
        for block in table["blocks"]
        if block["name"] != "paper"
        for row in block["rows"]
    }
    for label in ("Clustering", "Organizer"):
        assert float(rows["bottom-up", label]["Recall"]) == 1.0
    assert float(rows["bottom-up", "Ceiling"]["ARI"]) == 1.0
    assert float(rows["deep-research", "Ceiling of search"]["Recall"]) == 1.0
    search, scout = (
        float(rows["deep-research", name]["Recall"])
        for name in ("Title+Clustering", "Scout+Clustering")
    )
    assert 0 < search <= scout < 1
    assert sorted(path.name for path in Path(output).glob("figure-*.svg")) == [
        "figure-3.svg", "figure-4.svg", "figure-5.svg"
    ]  # fmt: skip
    o3 = found["tables"]["deep-research"]["blocks"][-1]["rows"][0]
    assert list(o3) == ["o3", "0.2092", "0.59", "0.76", "0.92", "0.83", "2.55"]  # Tables 2, 4
