"""Statistics of who cites whom."""

from __future__ import annotations

import json

import pytest

from benchmarks.network import measure
from corpus_builder.build import build
from corpus_builder.sources.jsonl import JsonLines


def test_statistics_by_hand(tmp_path):
    """Paper 11 cites the ten papers before it, of which 10 cites 9; 0 and 1 are uncited there."""
    papers = [
        {"id": f"p{n}", "title": f"word{n}", "date": str(2000 + n), "references": []}
        for n in range(12)
    ]
    papers[10]["references"] = ["p9"]
    papers[11]["references"] = [f"p{n}" for n in range(1, 11)]
    (tmp_path / "p.jsonl").write_text("\n".join(map(json.dumps, papers)))
    build(JsonLines(tmp_path / "p.jsonl"), tmp_path / "corpus")
    (found,) = measure(corpora=(str(tmp_path / "corpus"),))["corpora"].values()
    assert found["papers"] == 12
    assert found["links a paper"] == pytest.approx(11 / 12)
    assert found["papers with 10 references"] == pytest.approx(1 / 12)
    assert found["uncited"] == pytest.approx(2 / 12)
    assert found["received by the top 10%"] == pytest.approx(3 / 11)  # of two papers, 2 and 1
    # counts 0 0 1 (nine times) 2: Gini = sum((2i - n - 1) x) / (n sum(x)), i from 1
    gini = sum((2 * i - 13) * x for i, x in enumerate([0, 0] + [1] * 9 + [2], 1)) / 12 / 11
    assert found["received, Gini"] == pytest.approx(gini)
    assert found["age, 50th percentile"] == pytest.approx(5, abs=0.01)
    assert found["references that cite each other"] == pytest.approx(2 / 10)
    assert found["their density"] == pytest.approx(1 / 45)
    assert found["links without a shared word"] == 1
