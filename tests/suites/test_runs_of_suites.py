"""Suites score the directory of a run like any other system."""

from __future__ import annotations

import json

import pytest
from helpers import Memory

import arena
from arena.cli import main
from arena.errors import DataError
from arena.suites import SUITES
from corpus_builder.build import build

PAPERS = [
    {"id": "a1", "title": "Chains of thought in models", "date": "2018-02-01"},
    {"id": "a2", "title": "Graph matching by hand", "date": "2019-01-05"},
    {"id": "a3", "title": "Trees of verbs", "date": "2019-06-30"},
]
TREE = {
    "name": "Reasoning",
    "subtopics": [
        {"name": "Chains", "papers": ["a1"]},
        {"name": "Structures", "papers": ["a2", "a3"]},
    ],
}


def with_titles(tree):
    titles = {paper["id"]: paper["title"] for paper in PAPERS}
    below = [with_titles(child) for child in tree.get("subtopics", ())]
    papers = [titles[paper] for paper in tree.get("papers", ())]
    return {"name": tree["name"], "subtopics": below, "papers": papers}


def corpus_of(directory, name):
    survey = {"id": name, "title": "Reasoning, Reviewed", "date": "2020-04-13", "mind_map": TREE,
              "references": ["a1", "a2", "a3"]}  # fmt: skip
    build(Memory(PAPERS, [survey]), directory)
    return str(directory)


def test_taxobench_reads_the_maps_of_a_run(tmp_path, capsys):
    corpus, run = corpus_of(tmp_path / "corpus", "taxobench:7"), str(tmp_path / "run")
    arena.run(corpus, "organization", "oracle", run)
    data = tmp_path / "data.jsonl"
    data.write_text(json.dumps({"id": 7, "gt": with_titles(TREE)}) + "\n")
    score = SUITES.get("taxobench")
    result = score(data=str(data), predictions=run, corpus=corpus).to_json()
    assert result["mean"]["ari"] == result["mean"]["leaf_recall"] == 1
    official = score(data=str(data), predictions=run, corpus=corpus, official=True)
    assert set(official.mean.values()) == {1.0}
    with pytest.raises(DataError, match="whose maps file ids: name the --corpus"):
        score(data=str(data), predictions=run)
    arena.run(corpus, "organization", "random", tmp_path / "other")
    command = ["evaluate", "taxobench", "--data", str(data), "--corpus", corpus, "--json"]
    assert main([*command, "--system", f"a={run}", "--system", f"b={tmp_path / 'other'}"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["systems"]["a"]["mean"] == result["mean"]
    assert told["metrics"]["ari"]["differences"][0]["p"] is None  # one survey is one cluster


@pytest.mark.parametrize("name", ["1907.00123", "cs/0701023"])
def test_reportbench_reads_the_reports_of_a_run(tmp_path, name):
    corpus, run = corpus_of(tmp_path / "corpus", f"reportbench:{name}"), str(tmp_path / "run")
    arena.run(corpus, "report", "oracle", run)
    truth = tmp_path / "data" / "ReportBench_v1.1_GT"
    truth.mkdir(parents=True)
    about = {
        "arxiv_id": name, "title": "Reasoning, Reviewed", "doi": None, "prompt": "Write.",
        "application_domain": "AI",
        "versions": [{"version": "v1", "created": "Mon, 13 Apr 2020 10:00:00 GMT"}],
    }  # fmt: skip
    (tmp_path / "data" / "ReportBench_v1.1.jsonl").write_text(json.dumps(about) + "\n")
    entries = [{"bib_id": p["id"], "title": p["title"], "meta_info": {}} for p in PAPERS]
    entries.append({"bib_id": "b", "title": "Nobody has this one", "meta_info": {}})
    (truth / f"{name.replace('/', '_')}.jsonl").write_text(
        "".join(json.dumps(entry) + "\n" for entry in entries)
    )
    result = SUITES.get("reportbench")(data=str(tmp_path / "data"), reports=run, corpus=corpus)
    assert not result.missing and not result.problems
    assert (result.mean["reference_recall"], result.mean["reference_precision"]) == (0.75, 1.0)
