"""`python -m benchmarks search`: the collection, what is timed, and that engines agree."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from helpers import contents

from benchmarks import collection
from benchmarks.__main__ import main
from benchmarks.collection import DatedTexts, make_synthetic, take_corpus
from benchmarks.engines import ENGINES
from benchmarks.report import Clock
from benchmarks.search import agreement


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> DatedTexts:
    directory = tmp_path_factory.mktemp("made") / "collection"
    make_synthetic(directory, 1500, 20, seed=3)
    return DatedTexts(directory)


def test_a_query_is_eight_words_of_one_document(made: DatedTexts, tmp_path: Path) -> None:
    bags = [set(text.split()) for _, text in made.texts()]
    assert made.documents == len(bags) == 1500 and len(made.queries) == 20
    make_synthetic(tmp_path / "again", 1500, 20, seed=3)
    assert contents(tmp_path / "again") == contents(made.directory)
    for query in made.queries:
        words = set(query.split())
        assert len(words) == 8 and any(words <= bag for bag in bags)


def test_a_cutoff_parts_the_days(made: DatedTexts) -> None:
    assert made.end(100) == 1500
    for percent in (0.1, 1, 33, 50, 99.9):
        end = made.end(percent)
        assert (made.days[:end] < made.days[end]).all()
        assert (np.diff(made.days[end:]) >= 0).all()
        assert end <= 1500 * percent / 100


def test_words_are_as_frequent_as_in_titles_with_abstracts() -> None:
    """Measured on 29,168 real ones: see the module."""
    counts, lengths = np.zeros(collection.VOCABULARY, int), []
    total = distinct = 0
    for tokens, sizes in collection.blocks(5000, 0):
        counts += np.bincount(tokens, minlength=len(counts))
        total, lengths = total + len(tokens), [*lengths, *sizes]
        owner = np.repeat(np.arange(len(sizes)), sizes)
        distinct += len(np.unique(owner * len(counts) + tokens))
    assert np.mean(lengths) == pytest.approx(154, rel=0.02)
    assert np.std(np.log(lengths)) == pytest.approx(0.36, abs=0.02)
    assert distinct / total == pytest.approx(0.66, abs=0.04)
    share = np.sort(counts)[::-1] / total * 100
    for rank, real in ((10, 0.598), (30, 0.305), (100, 0.164), (300, 0.0711), (1000, 0.0190)):
        assert real / 2 < share[rank - 1] < real * 2


def test_papers_of_a_corpus(world: Path, tmp_path: Path) -> None:
    rows = [p for p in pq.read_table(world / "papers.parquet").to_pylist() if p["searchable"]]
    titles = pq.read_table(world / "tasks/surveys.parquet")["title"].to_pylist()
    take_corpus(tmp_path / "c", world, 200, len(titles) + 5, seed=0)
    made = DatedTexts(tmp_path / "c")
    texts = [f"{row['title']} {row['abstract']}".replace("\n", " ") for row in rows[:200]]
    assert [text for _, text in made.texts()] == texts
    assert Counter(made.queries[: len(titles)]) == Counter(titles)
    assert set(made.queries[len(titles) :]) <= {row["title"] for row in rows[:200]}
    epoch = np.datetime64("1970-01-01")
    assert (epoch + made.days).astype(str).tolist() == [str(row["date"]) for row in rows[:200]]


def test_vectors_follow_from_the_text_alone() -> None:
    texts = ["one", "two", "three"]
    vectors = collection.vectors_of(texts, 384)
    assert vectors.shape == (3, 384)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-6)
    assert collection.vectors_of(["two"], 384)[0].tobytes() == vectors[1].tobytes()
    assert np.abs(vectors @ vectors.T - np.eye(3)).max() < 0.5
    assert collection.query_vectors(["three"], 384)[0].tobytes() == vectors[2].tobytes()


def test_agreement_by_hand() -> None:
    assert agreement([[1, 2, 3], [4]], [[3, 1, 9], [5]]) == 0.5
    assert agreement([[]], [[]]) == 1


SMALL = ["--queries", "6", "--k", "10", "--repeats", "2", "--batch", "4", "--warm", "0"]


@pytest.mark.slow  # each engine has three processes
def test_the_command_and_that_engines_agree(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "r.json"
    assert (
        main(["search", "--docs", "900", "--cutoffs", "30,100", *SMALL, "--json", str(file)]) == 0
    )
    out = capsys.readouterr().out
    results = json.loads(file.read_text())
    assert results["documents"] == 900
    assert {*results["engines"], *results["skipped"]} == set(ENGINES)
    assert {"bm25", "dense"} <= set(results["engines"])
    for name, engine in results["engines"].items():
        assert f"| {name} " in out
        assert set(engine["cutoffs"]) == {"30", "100"}
        for cutoff, at in engine["cutoffs"].items():
            assert len(at["single"]["wall"]) == len(at["batch"]["cpu"]) == 2
            # Others have the statistics of all documents, so before a cutoff they may differ;
            # Lucene rounds lengths, and Tantivy has parameters of its own.
            if name == "hybrid":
                assert "agreement" not in at
                continue
            exact = name in ("dense", "dense-ivf", "faiss-flat", "bm25")
            exact |= cutoff == "100" and name != "tantivy"
            assert at["agreement"] >= (0.9 if exact else 0.6), (name, cutoff)
        assert engine["build"]["disk"] > 0 and engine["memory"] > 0 and engine["open"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--engines", "bm52"], "unknown engine 'bm52'. Did you mean 'bm25'"),
        (["--warm", "nan"], "--warm nan: give a number of at least 0"),
        (["--cutoffs", "0"], "--cutoffs 0.0: give a number from"),
        (["--cutoffs", "all"], "--cutoffs 'all': give numbers with commas"),
        (["--docs", "5", "--k", "6"], "--k 6: there are 5 documents"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], message: str, capsys: Any) -> None:
    assert main(["search", *arguments]) == 2
    err = capsys.readouterr().err
    assert message in err and err.count("\n") == 1


def test_a_clock_does_not_count_its_own_look_at_other_processes(monkeypatch: Any) -> None:
    monkeypatch.setattr("benchmarks.report._cpu_below", lambda: sum(range(2_000_000)) * 0.0)
    with Clock() as clock:
        pass
    assert 0 <= clock.cpu < 0.005


def test_the_cpu_time_of_an_engine_counts_its_process() -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass\nprint(flush=True)\ninput()"
    with Clock() as clock:
        child = subprocess.Popen(
            [sys.executable, "-c", busy], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert child.stdout is not None and child.stdout.readline()
    child.communicate(b"\n")
    assert clock.cpu >= 0.3
