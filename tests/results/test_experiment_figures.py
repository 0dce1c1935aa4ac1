"""Figures of experiments: what is drawn, where, and what is refused."""

from __future__ import annotations

import copy
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import arena
from arena.errors import DataError
from arena.results.experiments import read_experiment
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


def drawn(changes: dict[str, Any] | None = None, means: Any = MEANS) -> tuple[Any, dict[str, Any]]:
    """Return the figures and, by name, the roots of their pictures."""
    experiment = read_experiment(copy.deepcopy(CONFIG), changes)
    scores = {
        directory_of("discovery", label, "BM25"): {
            "mean": dict(zip(("recall@10", "precision@10", "ndcg@10"), values, strict=True))
        }
        for label, values in means.items()
    }
    figures, files = make_figures(experiment, reported_metrics(experiment), scores)
    return figures, {name: ET.fromstring(files[figures[name]["file"]]) for name in figures}


def titles(root: Any, tag: str) -> list[str]:
    """Return what a pointer shows on the elements of a kind."""
    found = (element.find(f"{SVG}title") for element in root.iter(SVG + tag))
    return [title.text for title in found if title is not None]


def texts(root: Any) -> list[str]:
    return [element.text for element in root.iter(f"{SVG}text")]


def test_bars_are_as_long_as_their_values():
    _, pictures = drawn()
    root = pictures["1"]
    bars = {
        bar.find(f"{SVG}title").text: float(bar.get("width"))
        for bar in root.iter(f"{SVG}rect")
        if bar.get("class") == "bar"
    }
    assert list(bars) == [f"{label}: R {values[0]:.4f}" for label, values in MEANS.items()]
    assert bars["d: R 0.4000"] == pytest.approx(4 * bars["a: R 0.1000"], abs=0.2)
    assert bars["floor: R 0.0000"] == 1  # never invisible
    grey = [group.get("class") for group in root.iter(f"{SVG}g")]
    assert grey == ["c0"] * 4 + ["rest"]
    assert {"Recall of all", "R", "a", "floor", "0.400"} <= set(texts(root))


def test_several_metrics_have_colours_and_a_legend():
    _, pictures = drawn()
    bars = titles(pictures["4"], "rect")
    assert bars[:2] == ["a: R 0.1000", "a: P 0.2000"] and "c: P 0.4000" in bars
    assert bars[-3:] == ["R", "P", "N"] and len(bars) == 14 + 3  # one value is unknown
    assert {"R", "P", "N", "-"} <= set(texts(pictures["4"]))


def test_points_have_a_mark_in_the_plot_and_one_in_the_legend():
    _, pictures = drawn()
    groups = {
        group.find(f"{SVG}title").text: group
        for group in pictures["2"].iter(f"{SVG}g")
        if group.find(f"{SVG}title") is not None
    }
    assert set(groups) == {
        "a: R 0.1000, P 0.2000, N 0.0400", "b: R 0.2000, P 0.6000, N 0.1600",
        "c: R 0.3000, P 0.4000", "d: R 0.4000, P 0.8000, N 0.0000",
        "floor: R 0.0000, P 1.0000, N 0.1600",
    }  # fmt: skip
    scales = {}
    for title, group in groups.items():
        marks = [e for e in group.iter() if e.get("class") in ("mark", "mark open")]
        assert len(marks) == 2
        scales[title[0]] = float(group.find(f"{SVG}g").get("transform").split("scale(")[1][:-1])
    # The largest has the scale 2; of a quarter of its size it is 0.6 + 1.4 / 2.
    assert scales == {"a": 1.3, "b": 2.0, "c": 0.6, "d": 0.6, "f": 2.0}
    assert {"R", "P", "size of a mark: N", "a", "floor"} <= set(texts(pictures["2"]))


def test_a_trend_is_of_the_rows_alone():
    figures, pictures = drawn()
    assert figures["3"]["spearman"] == {
        "rho": pytest.approx(RHO), "p": pytest.approx(0.2), "runs": 4
    }  # fmt: skip
    assert "Figure 3; Spearman's ρ = 0.80, p = 0.200, 4 runs" in texts(pictures["3"])
    (line,) = (e for e in pictures["3"].iter(f"{SVG}path") if e.get("class") == "trend")
    # Least squares: slope 1.6 (sums of products .08 and squares .05), 0.1 + 1.6 R.
    ends = [tuple(map(float, end.split())) for end in line.get("d")[1:].split("L")]
    # x from 0 to 0.4 over 370 pixels from 72, y from 0.2 to 1 from 418 up to 48.
    assert ends[0] == pytest.approx((72 + 370 / 4, 418 - 370 * 0.06 / 0.8), abs=0.1)
    assert ends[1] == pytest.approx((72 + 370, 418 - 370 * 0.54 / 0.8), abs=0.1)
    assert "grey: not in the trend" in texts(pictures["3"])


def test_too_few_runs_have_no_trend():
    figures, pictures = drawn(means={label: MEANS[label] for label in ("a", "b", "floor")})
    assert figures["3"]["spearman"] == {"rho": None, "p": None, "runs": 2}
    assert "Spearman's correlation is not defined for 2 runs" in texts(pictures["3"])[-1]
    assert not [e for e in pictures["3"].iter(f"{SVG}path") if e.get("class") == "trend"]
    assert spearman([], "R", "P") == {"rho": None, "p": None, "runs": 0}
    assert drawn(means={})[1].keys() == CONFIG["figures"].keys()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"figures.1.table": "U"}, r"figures.1.table: no such table"),
        ({"figures.1.metrics": ["S"]}, r"figures.1.metrics: the table has no metric 'S'"),
        ({"figures.2.x": "S"}, r"figures.2.x: the table has no metric 'S'"),
        ({"figures.2.size": "S"}, r"figures.2.size: the table has no metric 'S'"),
        ({"figures.2.kind": "pie"}, r"figures.2.kind"),
        ({"figures.2.y": ""}, r"figures.2.y: the table has no metric ''"),
    ],
)
def test_figures_that_cannot_be_drawn_are_refused(changes, message):
    with pytest.raises(DataError, match=message):
        read_experiment(copy.deepcopy(CONFIG), changes)


def test_figures_stand_beside_their_tables(world, tmp_path):
    config = copy.deepcopy(CONFIG)
    config["tables"]["U"] = {"task": "discovery", "metrics": ["mrr"], "rows": {"a": "title"}}
    config["figures"]["5"] = {"kind": "bars", "table": "U"}
    output = tmp_path / "out"
    found = arena.run_experiment(config, world, output, tables=["T"], surveys=3)
    assert list(found["figures"]) == ["1", "2", "3", "4"]
    text = (output / "tables.md").read_text()
    assert "## Figure 1. Recall of all.\n\n![Figure 1. Recall of all.](figure-1.svg)" in text
    before = {path.name: path.read_bytes() for path in output.glob("figure-*")}
    assert len(before) == 4
    arena.run_experiment(config, world, output, tables=["T"], surveys=3)
    assert before == {path.name: path.read_bytes() for path in output.glob("figure-*")}
    arena.run_experiment(config, world, output, tables=["U"], surveys=3)
    assert [path.name for path in output.glob("figure-*")] == ["figure-5.svg"]


def test_the_experiment_of_taxobench_plays_without_a_model(world, tmp_path):
    output = tmp_path / "out"
    found = arena.run_experiment(
        "taxobench",
        world,
        output,
        surveys=2,
        agents=["clustering", "organizer", "scout", "random", "oracle"],
    )
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
    assert sorted(path.name for path in Path(output).glob("figure-*")) == [
        "figure-3.svg", "figure-4.svg", "figure-5.svg"
    ]  # fmt: skip
    o3 = found["tables"]["deep-research"]["blocks"][-1]["rows"][0]
    assert list(o3) == ["o3", "0.2092", "0.59", "0.76", "0.92", "0.83"]  # Table 2 of the paper
