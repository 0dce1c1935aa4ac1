"""Run and qrels files: round trips, every error, ties, and ranx reading ours."""

from __future__ import annotations

import gzip
import random
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena import metrics
from arena.errors import DataError
from arena.trec import order, read_qrels, read_run, write_qrels, write_run

RUN = "q1 Q0 a 1 2.5 t\nq1 Q0 b 2 -1e-3 t\nq2 Q0 a 1 7 t\n"
QRELS = "q1 0 a 2\nq1 0 b 1\nq2 0 a 0\n"

tokens = st.text(
    st.characters(exclude_categories=["Cs", "Z"]).filter(lambda c: not c.isspace()), min_size=1
).filter(lambda text: not text.startswith("\ufeff"))


def save(path: Path, data: str | bytes) -> Path:
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def test_read_run(tmp_path: Path) -> None:
    assert read_run(save(tmp_path / "run", RUN)) == {
        "q1": [("a", 2.5), ("b", -0.001)],
        "q2": [("a", 7.0)],
    }


def test_read_qrels(tmp_path: Path) -> None:
    path = save(tmp_path / "qrels", QRELS)
    assert read_qrels(str(path)) == {"q1": {"a": 2, "b": 1}, "q2": {"a": 0}}


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(" ", "\t"),
        lambda text: text.replace(" ", " \t  "),
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.replace("\n", "  \n\n \t\n"),
        lambda text: "\n" + text.rstrip("\n"),
        lambda text: "\ufeff" + text,
    ],
)
def test_spacing(tmp_path: Path, change: Callable[[str], str]) -> None:
    run, qrels = save(tmp_path / "run", RUN), save(tmp_path / "qrels", QRELS)
    expected = read_run(run), read_qrels(qrels)
    save(run, change(RUN))
    save(qrels, change(QRELS))
    assert (read_run(run), read_qrels(qrels)) == expected


@pytest.mark.parametrize("name", ["run.gz", "run.txt"])
def test_gzip(tmp_path: Path, name: str) -> None:
    expected = read_run(save(tmp_path / "plain", RUN))
    assert read_run(save(tmp_path / name, gzip.compress(RUN.encode()))) == expected
    qrels = read_qrels(save(tmp_path / "plain", QRELS))
    assert read_qrels(save(tmp_path / name, gzip.compress(QRELS.encode()))) == qrels


RUN_ERRORS = [
    ("q1 Q0 a 1 2.5\n", ":1: 'q1 Q0 a 1 2.5' has 5 columns, expected 6: 'qid Q0 docid rank"),
    ("q1 Q0 a 1 nan t\n", ":1: score 'nan', expected a finite number"),
    ("q1 Q0 a 1.0 2 t\n", ":1: rank '1.0', expected an integer"),
    (RUN + "q1 Q0 b 3 0 t\n", ":4: document 'b' appears again for query 'q1', expected each"),
    ("", ": empty file, expected lines 'qid Q0 docid rank score tag'"),
    (b"q1 Q0 a 1 2 t\nq1 Q0 \xff 2 1 t\n", r":2: b'q1 Q0 \\xff 2 1 t\\n' is not UTF-8"),
    (gzip.compress(RUN.encode(), mtime=0)[:-9], ": damaged gzip file"),
]
QRELS_ERRORS = [
    ("q1 0 a\n", ":1: 'q1 0 a' has 3 columns, expected 4: 'qid 0 docid gain'"),
    ("q1 0 a 1.5\n", ":1: gain '1.5', expected an integer"),
    ("q1 0 a 1\n\nq1 0 b high\n", ":3: gain 'high', expected an integer"),
    ("q1 0 a " + "9" * 5000, ":1: gain '9+..., expected an integer"),
    (QRELS + "q1 0 a 2\n", ":4: document 'a' appears again for query 'q1'"),
    ("", ": empty file, expected lines 'qid 0 docid gain'"),
]


@pytest.mark.parametrize(
    ("read", "data", "message"),
    [(read_run, *case) for case in RUN_ERRORS] + [(read_qrels, *case) for case in QRELS_ERRORS],
)
def test_malformed(
    tmp_path: Path, read: Callable[[Path], object], data: str | bytes, message: str
) -> None:
    path = save(tmp_path / "file.txt", data)
    with pytest.raises(DataError, match="file.txt" + message) as caught:
        read(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 250


@pytest.mark.parametrize("read", [read_run, read_qrels])
def test_no_file(tmp_path: Path, read: Callable[[Path], object]) -> None:
    with pytest.raises(DataError, match="absent: no such file"):
        read(tmp_path / "absent")
    with pytest.raises(DataError, match="is a directory, expected a file"):
        read(tmp_path)


def test_write_run(tmp_path: Path) -> None:
    path = tmp_path / "run"
    write_run(path, {"q2": ["b"], "q1": ["x", "a"], "q3": []}, "t")
    assert path.read_bytes() == b"q1 Q0 x 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 b 1 1 t\n"


def test_write_qrels(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    write_qrels(path, {"q2": {"b": 1}, "q1": {"x": 2, "a": 0}})
    assert path.read_bytes() == b"q1 0 a 0\nq1 0 x 2\nq2 0 b 1\n"


@given(st.dictionaries(tokens, st.lists(tokens, min_size=1, unique=True), min_size=1), tokens)
def test_run_round_trip(run: dict[str, list[str]], tag: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "run")
        write_run(path, run, tag)
        back = read_run(path)
        # as stored, and as a ranking made of the scores
        assert {query: [document for document, _ in pairs] for query, pairs in back.items()} == run
        assert {query: order(pairs, lambda _: None) for query, pairs in back.items()} == run
        first = path.read_bytes()
        write_run(path, dict(reversed(run.items())), tag)
        assert path.read_bytes() == first


gains = st.dictionaries(tokens, st.integers(-(10**18) + 1, 10**18 - 1), min_size=1)


@given(st.dictionaries(tokens, gains, min_size=1))
def test_qrels_round_trip(qrels: dict[str, dict[str, int]]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory, "qrels")
        write_qrels(path, qrels)
        assert read_qrels(path) == qrels


@pytest.mark.parametrize("bad", ["", " ", "a b", "a\tb", "a\n", "a\u00a0b", "\u2028", "\ufeffa"])
def test_refuses_bad_tokens(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "file"
    for run, tag in [({bad: ["a"]}, "t"), ({"q": [bad]}, "t"), ({"q": ["a"]}, bad)]:
        with pytest.raises(DataError, match="expected a non-empty string without white space"):
            write_run(path, run, tag)
    for qrels in [{bad: {"a": 1}}, {"q": {bad: 1}}]:
        with pytest.raises(DataError, match="expected a non-empty string without white space"):
            write_qrels(path, qrels)
    assert not list(tmp_path.iterdir())


@pytest.mark.slow  # ranx compiles for up to a minute
def test_ranx_reads_our_files(tmp_path: Path) -> None:
    ranx = pytest.importorskip("ranx")
    names = ["recall@10", "precision@10", "ndcg@10", "mrr"]  # ranx compiles each once
    rng = random.Random(1)
    pool = [f"doc{n}" for n in range(50)]
    run = {f"q{n}": rng.sample(pool, 30) for n in range(20)}
    qrels = {
        query: {document: rng.randint(1, 2) for document in rng.sample(pool, 8)} for query in run
    }
    write_run(tmp_path / "run.txt", run, "t")
    write_qrels(tmp_path / "qrels.txt", qrels)
    theirs = ranx.evaluate(
        ranx.Qrels.from_file(str(tmp_path / "qrels.txt")),
        ranx.Run.from_file(str(tmp_path / "run.txt")),
        names,
    )
    scores = [metrics.evaluate(run[query], qrels[query], names) for query in run]
    ours = {name: statistics.fmean(row[name] for row in scores) for name in names}
    assert ours == pytest.approx(theirs, abs=1e-9, rel=0)
