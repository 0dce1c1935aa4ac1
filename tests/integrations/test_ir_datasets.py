"""Papers, queries and qrels as ir_datasets reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.errors import DataError
from arena_integrations.ir_datasets import DatedDataset, register


def test_papers_queries_and_labels_by_hand(mini: Path) -> None:
    data = DatedDataset(mini)
    papers = ["p:old", "p:leap", "p:day", "Z:tie", "p:month", "é:tie", "p:year", "12345"]
    papers += ["p:last", "p:same", "p:later"]  # neither surveys nor undated ones
    assert [doc.doc_id for doc in data.docs_iter()] == papers
    assert data.docs_count() == len(papers)
    day = data.docs_iter()[2]
    assert day == (
        "p:day", "Dense Retrieval with Encoders", "We train encoders for passages.", "2020-03-05"
    )  # fmt: skip
    assert day.default_text() == "Dense Retrieval with Encoders\nWe train encoders for passages."
    assert [doc.date for doc in data.docs_iter()[4:7]] == ["2020-03-31", "2020-03-31", "2020-12-31"]
    assert list(data.queries_iter()) == [
        ("sv:1", "dense retrieval: a survey", "2022-06-15"),
        ("sv:2", "sparse models: a review", "2021-12-31"),
    ]
    assert sorted((q.query_id, q.doc_id, q.relevance) for q in data.qrels_iter()) == [
        ("sv:1", "12345", 1), ("sv:1", "p:day", 1), ("sv:1", "p:last", 1), ("sv:1", "p:leap", 2),
        ("sv:2", "12345", 1), ("sv:2", "p:month", 1), ("sv:2", "p:year", 2),
    ]  # fmt: skip


def test_ir_datasets_reads_it(mini: Path) -> None:
    ir_datasets = pytest.importorskip("ir_datasets", reason="needs the extra ir")
    assert register("mini", mini) is ir_datasets.load("researcharena/mini")
    data = ir_datasets.load("researcharena/mini")
    assert (len(data.docs), len(list(data.queries))) == (11, 2)
    assert data.docs.lookup("p:last").title == "The Day Before"
    assert set(data.docs.lookup(["p:last", "p:nodate", "s:flag"])) == {"p:last"}
    assert data.qrels.asdict()["sv:1"]["p:leap"] == 2
    with pytest.raises(DataError, match="already"):
        register("mini", mini)
