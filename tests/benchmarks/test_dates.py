"""Differences of two experiments, and what date filters find of a made-up world."""

from __future__ import annotations

import json
from importlib.util import find_spec

import pytest

import arena
from benchmarks import dates
from benchmarks.__main__ import main
from corpus_builder.build import build
from corpus_builder.sources.world import WorldSource
from corpus_builder.world import WorldConfig


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("dates")
    build(WorldSource(WorldConfig(papers=200, surveys=4)), place / "world")
    for agent in ("title", "oracle"):  # by one label: what the better filter finds
        table = {"title": "T", "task": "discovery", "metrics": ["recall"], "rows": {"A": agent}}
        config = {"name": "n", "title": "N", "retrievers": {"B": "bm25"}, "tables": {"t": table}}
        arena.run_experiment(config, place / "world", place / agent)
    return place


def test_differences(place, capsys):
    folders = f"{place / 'title'},{place / 'oracle'}"
    (row,) = dates.measure(pair={"world": folders})["differences"]
    (path,) = place.glob("title/runs/*/*/*/metrics.json")
    title = json.loads(path.read_text())["mean"]["recall@100"]
    true, leaked, difference, low, high = row["recall@100"]
    assert (true, leaked, difference) == pytest.approx((title, 1, 1 - title))
    assert row["n"] == 4 and 0 < low < difference < high
    drawn = ["--figure", str(place / "f.svg")] if find_spec("matplotlib") else []
    assert main(["dates", "--pair", f"world={folders}", *drawn]) == 0
    assert f" → 1.000: +{1 - title:.3f} (".replace("0.", ".") in capsys.readouterr().out
    assert not drawn or (place / "f.svg").read_bytes().startswith(b"<?xml")
    assert main(["dates"]) == 2 == main(["dates", "--pair", f"world={place / 'title'}"])


def test_only_filters_that_count_later_papers_change(place):
    day = sorted(survey.date for survey in arena.tasks.TaskSet(place / "world").surveys.values())[1]
    results = dates.measure(filters=str(place / "world"), day=day)
    rows = {row["engine and filter"]: list(row.values())[1:4] for row in results["filters"]}
    assert rows["bm25"] == [0, 0, 0]
    assert rows["bm25, statistics of all papers"][1] > 0
    if find_spec("bm25s"):
        assert rows["bm25s, weight_mask"][1:] == [1, 0]
        assert rows["bm25s, by month"][2] > 0
