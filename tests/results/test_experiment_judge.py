"""Columns of a table that a judge of reports or of mind-maps fills."""

from __future__ import annotations

import json

import pytest
from helpers import Memory
from llm_server import LLMServer

from arena.errors import DataError
from arena_suites.experiments import preview, run_experiment
from corpus_builder.build import build

PAPERS = [
    {"id": "a", "title": "Reefs and fish", "date": "2015", "abstract": "Coral feeds the fish."},
    {"id": "b", "title": "Dunes and wind", "date": "2016", "abstract": "Sand moves."},
]
SURVEYS = [
    {"id": "s", "title": "Reefs reviewed", "date": "2020", "references": ["a", "b"],
     "article": "Coral feeds the fish [@a]. Sand stands still [@b]. All is well [@b]."},
]  # fmt: skip
TABLE = {
    "task": "report", "columns": "metrics", "rows": {"Ceiling": "oracle"},
    "metrics": {"F1": "reference_f1", "Match": "judge.match_rate"},
}  # fmt: skip
CONFIG = {"name": "judged", "retrievers": {"BM25": "bm25"}, "tables": {"one": TABLE}}


def answer(body):
    """Quote coral and dunes; find that coral alone supports its statement."""
    text = body["messages"][0]["content"]
    if "Which words" in text:
        return "NOT_FOUND" if "All is well" in text else "Words of the passage."
    return json.dumps({"reason": "So.", "match": "Coral" in text})


def test_a_judge_fills_its_columns(tmp_path):
    build(Memory(PAPERS, SURVEYS), tmp_path / "corpus")

    def play(**judge):
        config = {**CONFIG, "judge": judge}
        return run_experiment(config, tmp_path / "corpus", tmp_path / "out")

    without = play()["tables"]["one"]
    assert without["blocks"][0]["rows"] == [["Ceiling", "1.0000", None]]
    assert "Match: name a judge with --judge-option model=NAME." in without["notes"]
    with LLMServer(answer) as server:
        options = {"model": "scripted", "base_url": server.url, "store": str(tmp_path / "a.db")}
        judged = play(**options, votes=0)
        asked = len(server.requests)
    assert asked == 5  # three quotations, two verdicts: one of three statements matches
    assert judged["tables"]["one"]["blocks"][0]["rows"] == [["Ceiling", "1.0000", "0.3333"]]
    assert "Judge of Match: scripted; no votes." in judged["tables"]["one"]["notes"]
    files = {path: path.read_bytes() for path in (tmp_path / "out").glob("tables.*")}
    assert len(files) == 3
    # A second play without a server gives the same bytes.
    play(**options, votes=0, mode="replay")
    assert files == {path: path.read_bytes() for path in files}
    # Without the judge its verdicts count.
    assert play() == judged


def test_a_judge_of_mind_maps_fills_columns(tmp_path):
    tree = {"label": "Reefs", "children": [{"label": "Fish", "papers": ["a"]}, {"label": "Sand"}]}
    build(Memory(PAPERS, [SURVEYS[0] | {"mind_map": tree}]), tmp_path / "corpus")
    table = {
        "task": "organization", "columns": "metrics",
        "rows": {"Ceiling": "oracle", "No map": "title"},
        "metrics": {"Recall": "leaf_recall", "Avg.": "judge.average", "Logic": "judge.logic"},
    }  # fmt: skip
    scores = {"coverage": 5, "organization": 4, "logic": 3, "topology": 2}
    with LLMServer(lambda body: json.dumps(scores)) as server:
        options = {"model": "scripted", "base_url": server.url, "store": str(tmp_path / "a.db")}
        config = {**CONFIG, "tables": {"one": table}, "judge": options}
        found = run_experiment(config, tmp_path / "corpus", tmp_path / "out")
        assert len(server.requests) == 1  # a map without headings is not judged
    rows = [["Ceiling", "1.0000", "3.5000", "3.0000"], ["No map", "0.0000", "1.0000", "1.0000"]]
    assert found["tables"]["one"]["blocks"][0]["rows"] == rows
    assert "Judge of Avg., Logic: scripted." in found["tables"]["one"]["notes"]
    # Its verdicts stand where no judge is named.
    again = run_experiment(config | {"judge": {}}, tmp_path / "corpus", tmp_path / "out")
    assert again["tables"] == found["tables"]


def test_a_table_of_the_judges_columns_alone(tmp_path):
    tree = {"label": "Reefs", "children": [{"label": "Fish", "papers": ["a"]}, {"label": "Sand"}]}
    build(Memory(PAPERS, [SURVEYS[0] | {"mind_map": tree}]), tmp_path / "corpus")
    scores = {"coverage": 5, "organization": 4, "logic": 3, "topology": 2}
    table = {
        "task": "organization", "columns": "metrics", "rows": {"Ceiling": "oracle"},
        "metrics": {name.title(): f"judge.{name}" for name in scores},
    }  # fmt: skip
    config, places = {**CONFIG, "tables": {"judge": table}}, (tmp_path / "corpus", tmp_path / "out")
    (planned,) = preview(config, *places)
    assert (planned.episodes, planned.state) == (1, "to do")
    assert run_experiment(config, *places)["tables"]["judge"]["blocks"][0]["rows"] == [
        ["Ceiling", None, None, None, None]
    ]
    with LLMServer(lambda body: json.dumps(scores)) as server:
        options = {"model": "scripted", "base_url": server.url, "store": str(tmp_path / "a.db")}
        found = run_experiment(config | {"judge": options}, *places)
    assert found["tables"]["judge"]["blocks"][0]["rows"] == [
        ["Ceiling", "5.0000", "4.0000", "3.0000", "2.0000"]
    ]
    assert [each.state for each in preview(config, *places)] == ["done"]


def test_templates_of_a_judge_that_are_not_there_are_refused_before_anything_is_played(tmp_path):
    build(Memory(PAPERS, SURVEYS), tmp_path / "corpus")
    judge = {"model": "m", "base_url": "http://127.0.0.1:9", "prompts": str(tmp_path / "nowhere")}
    for play in (preview, run_experiment):
        with pytest.raises(DataError, match=r"judge: prompts=.*nowhere.* contains no template"):
            play({**CONFIG, "judge": judge}, tmp_path / "corpus", tmp_path / "out")
    assert not (tmp_path / "out").exists()
