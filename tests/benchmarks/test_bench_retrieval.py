"""`python -m benchmarks retrieval`: a whole run, resuming after an interrupt, bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena._internal.cores import cores
from benchmarks import machine
from benchmarks.__main__ import main
from benchmarks.engines import ENGINES
from benchmarks.retrieval import spread

pytestmark = pytest.mark.slow  # processes of its own for each piece

ROOT = Path(__file__).resolve().parents[2]

# Two engines of another distribution: one ignores the cutoff by a document, one does not build.
PLUGIN = """
from benchmarks.engines import OwnBm25

class Late(OwnBm25):
    def search(self, query, k, end):
        return super().search(query, k, min(end + 1, 400))

class Broken(OwnBm25):
    @classmethod
    def build(cls, collection, directory):
        raise RuntimeError("no such luck")

class Absent(OwnBm25):
    requires = (("no_such_package", "no-such-package"),)
"""
SETTINGS = [
    "--docs",
    "400",
    "--queries",
    "6",
    "--k",
    "10",
    "--cutoffs",
    "100,10,50",
    "--batch",
    "4",
]


@pytest.fixture(scope="module")
def plugins(tmp_path_factory):
    """Where a distribution with engines is installed, as far as its metadata goes."""
    directory = tmp_path_factory.mktemp("plugins")
    (directory / "bench_plugin.py").write_text(PLUGIN)
    info = directory / "bench_plugin-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: bench-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[researcharena.bench_engines]\n"
        + "".join(
            f"{name.lower()} = bench_plugin:{name}\n" for name in ("Late", "Broken", "Absent")
        )
    )
    return directory


def start(plugins, *arguments, **options):
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(plugins), str(ROOT)])}
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks", "retrieval", *map(str, arguments)],
        env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options,
    )  # fmt: skip


def run(plugins, *arguments):
    process = start(plugins, *arguments)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


@pytest.fixture(scope="module")
def finished(plugins, tmp_path_factory):
    output = tmp_path_factory.mktemp("bench") / "out"
    status, out, err = run(
        plugins, *SETTINGS, "--engines", "bm25,tantivy,faiss-fp16,late,broken,absent",
        "--repeats", 2, "--output", output,
    )  # fmt: skip
    assert status == 0, err
    return output, out, err


def test_the_results_hold_what_was_measured(finished):
    output, out, _ = finished
    results = json.loads((output / "results.json").read_bytes())
    assert results["settings"]["documents"] == [400]
    assert results["machine"]["cores"] >= 1
    assert results["bandwidth"]["read_one_core"] > 1e8
    (size,) = results["sizes"]
    assert size["collection"]["ends"]["100"] == 400
    assert (
        size["collection"]["postings_a_query"]["10"] < size["collection"]["postings_a_query"]["50"]
    )
    for name in ("bm25", "tantivy", "faiss-fp16"):
        engine = size["engines"][name]
        assert engine["status"] == "measured"
        assert engine["check"]["difference"] is None
        for mode, calls in (("single", 6), ("batch", 2)):
            assert set(engine[mode]) == {"10", "50", "100"}
            repeats = engine["raw"][mode]
            assert len(repeats) == 2
            for percent in engine[mode]:
                sums = [sum(r["cpu_ns"][percent]) / 6 / 1e6 for r in repeats]
                assert engine[mode][percent]["cpu_ms"] == spread(sums)
                assert all(len(r["wall_ns"][percent]) == calls for r in repeats)
    bm25 = size["engines"]["bm25"]
    postings = size["collection"]["postings_a_query"]["50"]
    assert bm25["bytes_a_posting"] * size["collection"]["postings"] == bm25["build"]["bytes"]
    read = postings * bm25["bytes_a_posting"] / results["bandwidth"]["read_one_core"]
    assert bm25["work"]["50"]["floor_ms"] == pytest.approx(read * 1e3)
    half = size["engines"]["faiss-fp16"]["work"]["50"]
    assert half["bytes"] == half["documents"] * 384 * 2
    assert (output / "results.md").read_text() in out
    assert "<svg" in (output / "results.svg").read_text()
    assert not (output / "work").exists()


def test_a_wrong_engine_is_told_and_not_timed(finished):
    output, _, err = finished
    (size,) = json.loads((output / "results.json").read_bytes())["sizes"]
    late = size["engines"]["late"]
    assert late["status"] == "failed"
    assert "10 % before the cutoff" in late["reason"]
    assert "alone" in late["reason"]
    assert "raw" not in late
    assert not list((output / "pieces").glob("400/late.single*"))
    assert "late: failed the check, not timed" in err
    assert size["engines"]["broken"]["reason"] == "build: RuntimeError: no such luck"
    assert size["engines"]["absent"] == {
        "status": "skipped",
        "reason": "no-such-package not installed; pip install 'researcharena[bench]'",
    }
    assert "absent: skipped: no-such-package" in err


def test_a_finished_run_is_not_done_again(finished, plugins):
    output, _, _ = finished
    before = (output / "results.json").read_bytes()
    piece = output / "pieces" / "400" / "bm25.single-0.json"
    kept = {p: p.read_bytes() for p in (output / "pieces").rglob("*.*-[01].json") if p != piece}
    assert len(kept) == 3 * 4 - 1
    piece.unlink()
    command = [
        *SETTINGS, "--engines", "bm25,tantivy,faiss-fp16,late,broken,absent", "--repeats", 2,
        "--output", output,
    ]  # fmt: skip
    status, _, err = run(plugins, *command)
    assert status == 0, err
    assert {path: path.read_bytes() for path in kept} == kept
    after = json.loads((output / "results.json").read_bytes())
    assert after["sizes"][0]["engines"]["bm25"]["status"] == "measured"
    assert (
        json.loads(before)["sizes"][0]["engines"]["tantivy"]
        == (after["sizes"][0]["engines"]["tantivy"])
    )


def test_an_interrupted_run_goes_on(plugins, tmp_path):
    command = [*SETTINGS, "--engines", "bm25", "--repeats", 1, "--output", tmp_path / "out"]
    process = start(plugins, *command)
    build = tmp_path / "out" / "pieces" / "400" / "bm25.build.json"
    deadline = time.monotonic() + 120
    while not build.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted; the same command goes on" in err
    assert not (tmp_path / "out" / "results.json").exists()
    built = build.read_bytes()
    status, _, err = run(plugins, *command, "--json", tmp_path / "all.json")
    assert status == 0, err
    assert build.read_bytes() == built
    results = json.loads((tmp_path / "all.json").read_bytes())
    assert results["sizes"][0]["engines"]["bm25"]["status"] == "measured"

    other = [*command[:-2], "--k", 5, *command[-2:]]
    status, _, err = run(plugins, *other)
    assert (status, err.count("\n")) == (2, 1)
    assert "holds another benchmark (it differs in settings)" in err
    assert run(plugins, *other, "--overwrite")[0] == 0
    results = json.loads((tmp_path / "out" / "results.json").read_bytes())
    assert results["settings"]["k"] == 5


def call(capsys, *arguments):
    return main([*map(str, arguments)]), capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--docs", "0"], "--docs 0: give an integer >= 1"),
        (["--docs", "-5"], "--docs -5: give an integer >= 1"),
        (["--docs", "many"], "'many' is not a number"),
        (["--docs", "100,,200"], "'' is not a number"),
        (["--docs", "1000,1000"], "none twice"),
        (["--docs", "50"], "--k 100: the smallest collection has 50 documents"),
        (["--k", "0"], "--k 0: give an integer >= 1"),
        (["--repeats", "0"], "--repeats 0"),
        (["--batch", "-1"], "--batch -1"),
        (["--queries", "0"], "--queries 0"),
        (["--threads", "0"], "--threads 0"),
        (["--warm", "-1"], "--warm -1"),
        (["--warm", "inf"], "--warm inf"),
        (["--seed", "-1"], "--seed -1"),
        (["--cutoffs", "0,50"], "--cutoffs 0: give percents above 0, up to 100"),
        (["--cutoffs", "101"], "--cutoffs 101"),
        (["--cutoffs", "nan"], "--cutoffs nan"),
        (["--engines", "bm52"], "Did you mean 'bm25'"),
        (["--engines", ""], "--engines: name at least one value"),
        (["--corpus", "nowhere"], "there is no directory"),
    ],
)
def test_bad_input_is_one_line(arguments, message, capsys, tmp_path):
    status, err = call(capsys, "retrieval", "--output", tmp_path / "out", *arguments)
    assert status == 2
    assert err.count("\n") == 1
    assert message in err
    assert not (tmp_path / "out").exists()


def test_an_output_that_is_something_else(capsys, tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").write_text("x")
    for name, message in (("file", "is a file"), ("full", "holds other files, no benchmark")):
        status, err = call(
            capsys, "retrieval", "--docs", 500, "--engines", "bm25", "--output", tmp_path / name
        )
        assert (status, err.count("\n")) == (2, 1)
        assert message in err


def test_no_engine_at_all(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(ENGINES.get("tantivy"), "requires", (("no_such_package", "no-such"),))
    status, err = call(capsys, "retrieval", "--engines", "tantivy", "--output", tmp_path / "out")
    assert status == 2
    assert "no engine can run here. tantivy: no-such not installed" in err


def test_a_corpus_is_searched(world, plugins, tmp_path):
    status, _, err = run(
        plugins, "--corpus", world, "--queries", 12, "--k", 20, "--engines", "bm25",
        "--repeats", 1, "--warm", 0, "--output", tmp_path / "out",
    )  # fmt: skip
    assert status == 0, err
    results = json.loads((tmp_path / "out" / "results.json").read_bytes())
    assert len(results["settings"]["corpus"]) == 64
    assert str(world) not in (tmp_path / "out" / "results.json").read_text()
    assert results["sizes"][0]["engines"]["bm25"]["status"] == "measured"


def test_what_a_child_does_counts():
    """Lucene builds in a child, for one."""
    own, all_ = time.process_time(), machine.cpu_seconds()
    subprocess.run([sys.executable, "-c", "x = bytearray(2 * 10**8); sum(range(10**7))"])
    own, all_ = time.process_time() - own, machine.cpu_seconds() - all_
    assert all_ > own
    assert machine.peak_memory() > 2e8


COUNT = """
import os
import numba
from benchmarks.engines import OwnBm25

class Counting(OwnBm25):
    @classmethod
    def build(cls, collection, directory):
        super().build(collection, directory)
        return {"cores": len(os.sched_getaffinity(0)), "numba": numba.get_num_threads()}
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system has no affinity")
@pytest.mark.skipif(cores() < 2, reason="one core is no choice")
def test_a_worker_has_the_cores_that_it_may_use(tmp_path):
    """Asked of an engine in a real worker, through the distribution that brings it."""
    (tmp_path / "counting.py").write_text(COUNT)
    info = tmp_path / "counting-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: counting\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[researcharena.bench_engines]\ncounting = counting:Counting\n"
    )
    output = tmp_path / "out"
    status, _, err = run(
        tmp_path, *SETTINGS, "--engines", "counting", "--repeats", 1, "--warm", 0,
        "--threads", 1, "--output", output,
    )  # fmt: skip
    assert status == 0, err
    piece = json.loads((output / "pieces" / "400" / "counting.build.json").read_bytes())
    assert piece["index"] == {"cores": 1, "numba": 1}
