"""`python -m benchmarks search`: the collection, what is timed, and that engines agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from benchmarks.__main__ import main
from benchmarks.engines import ENGINES
from benchmarks.search import agreement


def test_agreement_by_hand() -> None:
    assert agreement([[1, 2, 3], [4]], [[3, 1, 9], [5]]) == 0.5
    assert agreement([[]], [[]]) == 1


SEARCHABLE = pc.field("searchable")
SMALL = ["--queries", "6", "--k", "10", "--repeats", "2", "--batch", "4"]


@pytest.mark.slow  # each engine has two processes
def test_the_command_and_that_engines_agree(tmp_path: Path, capsys: Any, synthetic: Path) -> None:
    file, cutoffs = tmp_path / "r.json", ["--cutoffs", "30,100"]
    assert main(["search", "--corpus", str(synthetic), *cutoffs, *SMALL, "--json", str(file)]) == 0
    out = capsys.readouterr().out
    results = json.loads(file.read_text())
    assert results["documents"] == len(
        pq.read_table(synthetic / "papers.parquet").filter(SEARCHABLE)
    )
    assert {*results["engines"], *results["skipped"]} == set(ENGINES)
    assert {"bm25", "dense"} <= set(results["engines"])
    for name, engine in results["engines"].items():
        assert f"| {name} " in out
        assert set(engine["cutoffs"]) == {"30", "100"}
        for cutoff, at in engine["cutoffs"].items():
            assert len(at["single"]["wall"]) == len(at["batch"]["cpu"]) == 2
            # Others have the statistics of all documents, so before a cutoff they may differ.
            exact = cutoff == "100" or name in ("dense", "ivf", "faiss-flat", "bm25")
            assert at["agreement"] >= (0.9 if exact else 0.6), (name, cutoff)
        assert engine["build"]["disk"] > 0
