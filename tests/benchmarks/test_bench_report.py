"""Tables and pictures of results; `python -m benchmarks core`."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from benchmarks import report
from benchmarks.__main__ import main
from benchmarks.core import measure
from benchmarks.retrieval import spread

ENDS = {"10": 100, "100": 1000}


def times(ten, hundred, **more):
    return {
        percent: {
            "cpu_ms": {"median": ms, "q1": ms / 2, "q3": ms * 2},
            "wall_ms": {"median": ms * 3, "q1": ms, "q3": ms * 4},
            "wall_ms_of_queries": {"p50": ms, "p95": 5.0, "p99": 7.0},
            **more,
        }
        for percent, ms in (("100", hundred), ("10", ten))
    }


def engine(family, native, ten, hundred):
    lexical = family == "lexical"
    more = {"cpu_ns_a_posting": 4.0} if lexical else {}
    return {
        "family": family, "native": native, "status": "measured", "work": {
            # JSON sorts its keys as text
            "10": {"documents": 100, "bytes": 1e6 if lexical else 100 * 768, "floor_ms": 0.5},
            "100": {"documents": 1000, "bytes": 1e7 if lexical else 1000 * 768, "floor_ms": 5.0},
        },
        "build": {
            "wall_seconds": 10.0, "cpu_seconds": 15.0, "bytes": 600_000, "peak_memory": 5e7,
            "versions": {},
        },
        "documents_a_second": 100.0, "open_ms": spread([1, 2, 3]), "first_ms": spread([400]),
        "search_peak_memory": 6e7, **({"bytes_a_posting": 6.0} if lexical else {}),
        "single": times(ten, hundred, **more), "batch": times(ten / 2, hundred / 2, **more),
    }  # fmt: skip


@pytest.fixture
def results():
    """Round numbers: 1,000 documents of 150 terms, 100 of them distinct."""
    return {
        "benchmark": "retrieval", "commit": "0123456789abcdef+", "code_sha256": "f" * 64,
        "machine": {
            "cpu": "Abacus", "cores": 2, "memory_bytes": 2**34, "system": "S", "python": "3.11",
            "packages": {"numpy": "2"},
        },
        "bandwidth": {
            "read_one_core": 2e9, "read_all_cores": 3e9, "copy_one_core": 1e9, "cores": 2,
        },
        "settings": {
            "documents": [1000], "engines": ["bm25", "other", "dense", "gone"], "queries": 8,
            "k": 10, "repeats": 3, "batch": 4, "threads": 2, "seed": 0,
            "warm": 0.5, "cutoffs": [100.0, 10.0],
        },
        "sizes": [{
            "documents": 1000,
            "collection": {
                "tokens": 150_000, "postings": 100_000, "ends": ENDS, "terms_a_query": 8.0,
                "postings_a_query": {"10": 60.0, "100": 600.0},
            },
            "engines": {
                "bm25": engine("lexical", True, 0.1, 1.0),
                "other": engine("lexical", False, 0.3, 1.5),
                "dense": engine("dense", True, 2.0, 20.0),
                "gone": {"status": "skipped", "reason": "not installed"},
            },
        }],
    }  # fmt: skip


def cells(table, row):
    (line,) = [line for line in table.splitlines() if line.startswith(f"| {row} ")]
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def test_tables_hold_the_numbers_in_the_order_of_the_shares(results):
    assert cells(report.search_single(results), "bm25") == [
        "0.100 (0.0500-0.200)", "1.00 (0.500-2.00)",
    ]  # fmt: skip
    assert cells(report.search_batch_wall(results), "bm25") == [
        "0.150 (0.0500-0.200)", "1.50 (0.500-2.00)",
    ]  # fmt: skip
    assert cells(report.latency(results), "dense")[0] == "2.00 / 5.00 / 7.00"
    assert cells(report.ratios(results), "other / bm25") == ["3.00", "1.50", "3.00", "1.50"]
    assert cells(report.index(results), "bm25") == [
        "10.0", "15.0", "100", "50", "1", "6.00", "2.00", "400", "60",
    ]  # fmt: skip
    assert cells(report.checks(results), "gone") == ["1,000", "skipped", "not installed"]
    assert cells(report.collections(results), "1,000") == [
        "150", "100", "8", "8.00", "60.0 at 10 %, 600 at 100 %",
    ]  # fmt: skip
    assert cells(report.machine(results), "reading, one core") == ["2.0 GB/s"]
    assert cells(report.machine(results), "code")[0].startswith("0123456789ab and changes")
    page = report.page(results)
    assert all(f"## {title}" in page for title in report.TITLES.values())


def test_what_was_asked_for_is_told(results):
    assert report.settings(results) == (
        "k = 10, 8 queries, 10, 100 % before the cutoff, 3 repeats, at least 0.5 s of warming up, "
        "batches of 4 with 2 threads, seed 0."
    )


def test_the_floor_stands_beside_the_time(results):
    lines = [line for line in report.floor(results).splitlines() if line.startswith("| bm25 ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert rows == [
        ["bm25", "10 %", "1.00", "0.500", "0.100", "0.200", "4.00"],
        ["bm25", "100 %", "10.00", "5.00", "1.00", "0.200", "4.00"],
    ]


def test_the_picture_is_the_same_each_time_and_names_the_engines(results):
    pytest.importorskip("matplotlib")
    drawn = report.svg(results)
    assert drawn == report.svg(results)
    ElementTree.fromstring(drawn)
    assert "1,000 documents, lexical, in batches" in drawn


def test_core_measures_searches_and_runs(world, tmp_path, capsys):
    rows = measure(world, rounds=1)
    assert [unit for _, _, unit in rows] == ["ms"] * 3 + ["s", "s"]
    assert all(value > 0 for _, value, _ in rows)
    command = ["core", "--corpus", str(world), "--rounds"]
    assert main([*command, "1", "--json", str(tmp_path / "core.json")]) == 0
    rows = json.loads((tmp_path / "core.json").read_bytes())["rows"]
    assert {unit for _, _, unit in rows} == {"ms", "s"}
    assert main([*command, "0"]) == 2
    assert "--rounds 0" in capsys.readouterr().err
