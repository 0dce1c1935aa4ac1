"""The matrix of baselines on a small corpus and one question of each benchmark."""

from __future__ import annotations

import csv
import json

import pytest

from benchmarks import matrix
from corpus_builder.build import build
from corpus_builder.index import build_index
from corpus_builder.sources.example import Example


def write_questions(folder):
    title, meta = "Neural Ranking of Passages", {"published_time": "20160501"}
    auto = {"qid": "q", "question": "Passages?", "answer": [title], "answer_arxiv_id": [""]}
    gym = {"qid": "q", "query": "Passages?", "gt_label": [1, 1], "date": "2015-06"}
    gym["cited_paper"] = [{"title": title}, {"title": "Not Here"}]
    spar = {"question": "Passages?", "source_meta": meta | {"answers": [{"title": title}]}}
    for name, record in (
        ("autoscholarquery", auto | {"source_meta": meta}), ("scholargym", gym), ("sparbench", spar)
    ):  # fmt: skip
        (folder / matrix.SETS[name]).write_text(json.dumps(record))
    (folder / "deepscholar").mkdir()
    paper = {"arxiv_id": "2003.00007v1", "title": "T", "abstract": "Passages.",
             "published_date": "2020-03-05"}  # fmt: skip
    cited = {"parent_paper_arxiv_id": "2003.00007v1", "cited_paper_title": title,
             "cited_paper_arxiv_link": "", "bib_paper_doi": ""}  # fmt: skip
    for name, row in (("papers_with_related_works", paper), ("citations", cited)):
        with (folder / "deepscholar" / f"{name}.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, row)
            writer.writeheader()
            writer.writerow(row)


def test_matrix(tmp_path):
    build(Example(), tmp_path / "corpus")
    build_index(tmp_path / "corpus", "dense")
    write_questions(tmp_path)
    places = {"corpus": str(tmp_path / "corpus"), "questions": str(tmp_path)}
    results = matrix.measure(**places, output=str(tmp_path / "out"))
    rows = {(row["set"], row["system"]): row for row in results["rows"]}
    assert len(rows) == len(results["rows"]) == 30  # 5 sets, 6 systems: without an index minilm
    row = rows["scholargym", "title, bm25"]
    assert (row["recall@100"], row["of all gold"], row["ceiling"]) == (1, 0.5, 0.5)
    assert row["distance"] == pytest.approx(0.99)
    assert rows["sparbench", "oracle, bm25"]["f1@10"] == pytest.approx(2 / 11)  # 1 of 10, 1 of 1
    assert matrix.measure(**places, output=str(tmp_path / "out")) == results
    assert "| scholargym " in matrix.show(results)
