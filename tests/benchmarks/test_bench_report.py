"""Tables, reckoning and pictures from results; `arena bench report` and `arena bench core`."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import pytest

from arena.bench import _aims, _pages, _plot, _scale, _tables
from arena.bench._results import spread
from arena.bench.core import measure
from arena.cli import bench
from arena.command_line import command_line, run_command

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
    assert cells(_tables.search_single(results), "bm25") == [
        "0.100 (0.0500-0.200)", "1.00 (0.500-2.00)",
    ]  # fmt: skip
    assert cells(_tables.search_batch_wall(results), "bm25") == [
        "0.150 (0.0500-0.200)", "1.50 (0.500-2.00)",
    ]  # fmt: skip
    assert cells(_tables.latency(results), "dense")[0] == "2.00 / 5.00 / 7.00"
    assert cells(_tables.ratios(results), "other / bm25") == ["3.00", "1.50", "3.00", "1.50"]
    assert cells(_tables.index(results), "bm25") == [
        "10.0", "15.0", "100", "50", "1", "6.00", "2.00", "400", "60",
    ]  # fmt: skip
    assert cells(_tables.checks(results), "gone") == ["1,000", "skipped", "not installed"]
    assert cells(_tables.collections(results), "1,000") == [
        "150", "100", "8", "8.00", "60.0 at 10 %, 600 at 100 %",
    ]  # fmt: skip
    assert cells(_tables.machine(results), "reading, one core") == ["2.0 GB/s"]
    assert cells(_tables.machine(results), "code")[0].startswith("0123456789ab and changes")
    page = _tables.page(results)
    assert all(f"## {title}" in page for title in _tables.TITLES.values())


def test_what_was_asked_for_is_told(results):
    assert _tables.settings(results) == (
        "k = 10, 8 queries, 10, 100 % before the cutoff, 3 repeats, at least 0.5 s of warming up, "
        "batches of 4 with 2 threads, seed 0."
    )


def test_aims_are_met_or_not(results):
    (size,) = results["sizes"]
    size["engines"]["bm25s"] = engine("lexical", False, 0.61, 0.99)
    bm25 = size["engines"]["bm25"]
    bm25["single"]["100"]["cpu_ns_a_posting"] = 1.5
    table = _aims.aims(results)
    ns = "bm25, CPU ns a posting alone, "
    assert cells(table, f"{ns}10 %") == ["at most 1.50", "4.00", "not met"]
    assert cells(table, f"{ns}100 %") == ["at most 1.50", "1.50", "met"]
    assert cells(table, "bm25s / bm25, CPU time alone, 10 %") == ["at least 6.00", "6.10", "met"]
    assert cells(table, "bm25s / bm25, CPU time in batches, 100 %") == [
        "at least 1.00", "0.990", "not met",
    ]  # fmt: skip
    assert cells(table, "bm25, documents built a second") == ["at least 8,000", "100", "not met"]
    assert cells(table, "bm25, ms to open") == ["at most 200", "2.00", "met"]
    assert len(table.splitlines()) == 2 + 4 + 4 + 2
    del size["engines"]["bm25s"]
    assert "bm25s" not in _aims.aims(results)


def test_the_floor_stands_beside_the_time(results):
    lines = [line for line in _tables.floor(results).splitlines() if line.startswith("| bm25 ")]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert rows == [
        ["bm25", "10 %", "1.00", "0.500", "0.100", "0.200", "4.00"],
        ["bm25", "100 %", "10.00", "5.00", "1.00", "0.200", "4.00"],
    ]


def test_reckoning_for_abstracts_by_hand(results):
    """12,000 times the documents; 1.2 billion postings, 1.8 billion terms at 15,000 a second."""
    table = _scale.abstracts(results)
    assert "1.20 billion postings" in table
    assert cells(table, "bm25") == [
        "7.2", "33.3", "1,200", "12,000", "600", "6,000",
    ]  # fmt: skip
    assert "A query has 7.2 million postings at 100 %." in table


def test_reckoning_for_full_texts_by_hand(results):
    """3,353 terms and 760 distinct ones a paper; 3.58 times the postings a query.

    A posting of bm25 takes eight bytes there, not the six that were measured.
    """
    table = _scale.full_texts(results)
    assert "9.12 billion postings" in table
    assert cells(table, "bm25") == [
        "73.0", "745", "4,296", "42,960", "2,148", "21,480",
    ]  # fmt: skip
    assert cells(table, "other")[0] == "54.7"
    assert "A query has 25.8 million postings at 100 %." in table


def test_reckoning_for_vectors_by_hand(results):
    rows = [line.split("|") for line in _scale.vectors(results).splitlines()[2:]]
    assert [[cell.strip() for cell in row[1:-1]] for row in rows] == [
        ["dense", "384", "9.2", "24,000", "240,000", "12,000", "120,000"],
        ["dense", "768", "18.4", "48,000", "480,000", "24,000", "240,000"],
    ]
    assert cells(_scale.rates(results), "bm25") == ["0.01", "6.00", "4.00", "4.00", "4.00", "4.00"]


def test_encoding_by_hand(results):
    """12 million at 27,111 / 7.2 = 3,765 a second and at 11 a second."""
    table = _scale.encoders(results)
    assert cells(table, "static")[:2] == ["3,765", "0.885"]
    assert cells(table, "minilm")[:2] == ["11", "303"]


def test_the_picture_is_the_same_each_time_and_names_the_engines(results):
    pytest.importorskip("matplotlib")
    drawn = _plot.svg(results)
    assert drawn == _plot.svg(results)
    ElementTree.fromstring(drawn)
    assert "1,000 documents, lexical, in batches" in drawn


def call(capsys, *arguments):
    parser, commands = command_line("arena", "")
    bench.add_group(commands)
    try:
        status = run_command(parser, ["bench", *map(str, arguments)])
    except SystemExit as stop:
        status = stop.code
    return status, *capsys.readouterr()


PAGE = """# Title

<!-- figures: search-single -->
to be filled in
<!-- end -->

<!-- figures: plot -->
<!-- end -->

<!-- figures: scale-abstracts -->
<!-- end -->
"""


@pytest.mark.skipif(not find_spec("matplotlib"), reason="matplotlib is not installed")
def test_a_page_is_filled_in_and_stays_so(results, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.json").write_text(json.dumps(results))
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    status, out, _ = call(capsys, "report", tmp_path / "out", "--update", page)
    assert status == 0
    assert "search-single, plot, scale-abstracts" in out
    text = page.read_text()
    assert text == (
        "# Title\n\n<!-- figures: search-single -->\n"
        + _tables.search_single(results)
        + "\n<!-- end -->\n\n<!-- figures: plot -->\n"
        "![CPU time of a query by the share of documents before the cutoff](page.svg)"
        "\n<!-- end -->\n\n<!-- figures: scale-abstracts -->\n"
        + _scale.abstracts(results)
        + "\n<!-- end -->\n"
    )
    assert "<svg" in (tmp_path / "page.svg").read_text()
    assert call(capsys, "report", tmp_path / "out", "--update", page)[0] == 0
    assert page.read_text() == text
    status, out, _ = call(capsys, "report", tmp_path / "out")
    assert out == _tables.page(results)


def test_bad_input_is_one_line(results, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.json").write_text(json.dumps(results))
    page = tmp_path / "page.md"
    page.write_text("<!-- figures: serach-single -->\n<!-- end -->\n")
    (tmp_path / "plain.md").write_text("text")
    for arguments, message in (
        ((tmp_path,), "holds no finished benchmark"),
        ((tmp_path / "nowhere",), "holds no finished benchmark"),
        ((tmp_path / "out", "--update", page), "Did you mean 'search-single'"),
        ((tmp_path / "out", "--update", tmp_path / "plain.md"), "has no <!-- figures"),
        ((tmp_path / "out", "--update", tmp_path / "none.md"), "is no page that can be read"),
    ):
        status, _, err = call(capsys, "report", *arguments)
        assert (status, err.count("\n")) == (2, 1)
        assert message in err


def test_the_pages_of_the_documentation_have_known_blocks():
    docs = Path(__file__).parents[2] / "docs"
    known = {*_tables.BLOCKS, *_aims.BLOCKS, *_scale.BLOCKS, "plot"}
    for name in ("benchmarks.md", "scale.md"):
        blocks = [m[2] for m in _pages._BLOCK.finditer((docs / name).read_text(encoding="utf-8"))]
        assert blocks
        assert set(blocks) <= known


def test_core_measures_searches_and_runs(world, capsys):
    rows = measure(world, rounds=1)
    assert [unit for _, _, unit in rows] == ["ms"] * 3 + ["s", "s"]
    assert all(value > 0 for _, value, _ in rows)
    status, out, _ = call(capsys, "core", "--corpus", world, "--rounds", 1, "--json")
    assert status == 0
    assert {row["unit"] for row in json.loads(out)} == {"ms", "s"}
    status, _, err = call(capsys, "core", "--corpus", world, "--rounds", 0)
    assert status == 2
    assert "--rounds 0" in err
