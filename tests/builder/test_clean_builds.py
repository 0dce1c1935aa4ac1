"""Every source: texts are cleaned at one place, and a paper is the same paper before and after."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

from helpers import Memory
from toy_release import ToyRelease

from arena.corpus import Corpus
from arena.testing.stored import StoredCorpus, work
from corpus_builder.build import build
from corpus_builder.cli import main
from corpus_builder.stages import plan, read_config, run_stages

PAPERS = [
    {"id": "a", "title": "Uptake of CO<sub>2</sub>", "date": "2001", "references": [],
     "abstract": "<jats:p>In data\u00adbases &amp;amp; {\\\"o}. Is p &lt; .05 and x > 3?</jats:p>"},
    {"id": "b", "title": "RETRACTED: A List<int> for Schr\\\"odinger", "date": "2002",
     "abstract": "Plain, a < b and c > d.",
     "sections": [{"heading": "<b>1</b>", "text": "&#955;"}]},
    {"id": "c", "title": "Plain", "abstract": "Of no date.", "date": "1900-01-01"},
    {"id": "t", "title": "Retracted: A <i>Survey</i> of\\quad Uptake\\thanks{Us.}", "date": "2003"},
]  # fmt: skip
SURVEY = {"id": "s", "title": "A <b>Survey</b> of Uptake", "date": "2004", "references": ["a", "b"]}
CLEAN = {
    "a": ("Uptake of CO2", "In databases & ö. Is p < .05 and x > 3?"),
    "b": ("A List<int> for Schrödinger", "Plain, a < b and c > d."),
}
COUNTS = {"titles_cleaned": 3, "titles_retracted": 2, "abstracts_cleaned": 1}


def check(directory: Path) -> dict[str, Any]:
    corpus = Corpus.open(directory)
    view = corpus.at("2010")
    shown = {paper: (view.paper(paper).title, view.paper(paper).abstract) for paper in CLEAN}
    assert shown == CLEAN
    for query in ("CO2", "databases", "Schrödinger"):
        assert len(view.search(query, k=9)) == 1
    for query in ("sub", "amp jats", "RETRACTED", "odinger"):
        assert view.search(query, k=9) == []
    assert "c" not in view  # of no date: else in reach of every survey
    counts = corpus.manifest["counts"]
    assert {key: counts.get(key) for key in COUNTS} == COUNTS
    return counts


def test_twins_of_a_survey_are_hidden(tmp_path: Path) -> None:
    endings = ["<sup>1</sup>", "\\textsuperscript{2}", "$^{*}$", " [Extended Version]", "³"]
    shown = [{"id": "near", "title": "A survey of Uptake (Part 2)", "date": "2003"}]
    twins = [
        {"id": f"twin{n}", "title": SURVEY["title"] + ending, "date": "2003"}
        for n, ending in enumerate(endings)
    ]
    build(Memory([*PAPERS[:2], *shown, *twins], [SURVEY]), tmp_path / "c")
    corpus = Corpus.open(tmp_path / "c")
    assert [p for p in ("near", *(twin["id"] for twin in twins)) if p in corpus.at("2010")] == [
        "near"
    ]
    titles = [paper.title for paper in StoredCorpus(tmp_path / "c").papers if paper.survey]
    assert titles[0] == "A Survey of Uptake"
    stored = StoredCorpus(tmp_path / "c")
    assert all(work(title) in stored.title_keys for title in titles)


def test_records(tmp_path: Path, capsys: Any) -> None:
    build(Memory(PAPERS, [SURVEY]), tmp_path / "c")
    counts = check(tmp_path / "c")
    assert "t" not in Corpus.open(tmp_path / "c").at("2010")  # the survey's twin
    assert (counts["survey_papers"], counts["placeholder_dates"]) == (1, 1)
    view = Corpus.open(tmp_path / "c").at("2010")
    assert view.sections("b") == [("<b>1</b>", "&#955;")]  # texts of papers are as they came
    assert main(["info", str(tmp_path / "c")]) == 0
    said = capsys.readouterr().out
    line = "3 titles cleaned, 2 titles retracted, 1 abstracts cleaned, 1 placeholder dates"
    assert line in said


def test_a_release_of_any_kind(tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    lines = "".join(f"{json.dumps(record)}\n" for record in PAPERS)
    (tmp_path / "r" / "0.gz").write_bytes(gzip.compress(lines.encode()))
    config = {"full_text_only": False, "references": {"min_tasks": 0}}
    release = plan("toy", ToyRelease(tmp_path / "r"), tmp_path / "c", read_config(config))
    run_stages(release)
    check(tmp_path / "c")
