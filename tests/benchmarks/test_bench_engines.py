"""Every engine that is installed here answers as the oracle does, in a process of its own."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from arena.errors import UnknownNameError
from benchmarks.engines import ENGINES, ordered_names
from benchmarks.retrieval import build, in_child, make_collection, make_vectors, verify


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A collection with vectors, made as a benchmark makes it."""
    directory = tmp_path_factory.mktemp("engines")
    job = {
        "documents": 1200, "queries": 12, "seed": 1, "corpus": None, "k": 30, "batch": 5,
        "cutoffs": [0.01, 5, 60, 100], "threads": 2, "collection": str(directory / "collection"),
    }  # fmt: skip
    for action in (make_collection, make_vectors):
        assert "failed" not in in_child(action, job)
    return directory, job


@pytest.mark.parametrize("name", ordered_names())
def test_the_engine_agrees_with_the_oracle(work, name):
    directory, job = work
    missing = ENGINES.get(name).missing()
    if missing:
        pytest.skip(f"{name}: {missing}")
    job = job | {"engine": name, "index": str(directory / name)}
    if name == "bm25s":
        job["threads"] = 1  # numba compiles its parallel loop for half a minute
    built = in_child(build, job)
    assert "failed" not in built
    assert in_child(verify, job)["difference"] is None
    assert built["bytes"] > 0
    required = {distribution for _, distribution in ENGINES.get(name).requires}
    assert set(built["versions"]) >= required


def test_lexical_engines_come_first_and_ours_before_others():
    names = ordered_names()
    assert names.index("bm25") < names.index("bm25s") < names.index("dense")
    assert names.index("dense") < names.index("faiss-flat")


def test_a_package_that_is_absent_is_named(monkeypatch):
    kind = ENGINES.get("tantivy")
    monkeypatch.setattr(kind, "requires", (("no_such_package", "no-such-package"),))
    assert kind.missing() == ("no-such-package not installed; pip install 'researcharena[bench]'")
    assert kind.versions() == {"no-such-package": "unknown"}


def test_an_unknown_engine_is_told_the_nearest():
    with pytest.raises(UnknownNameError, match="Did you mean 'bm25'"):
        ENGINES.get("bm25z")


def die(job: dict[str, Any]) -> dict[str, Any]:
    os.kill(os.getpid(), signal.SIGKILL)
    return {}


def test_a_piece_that_fails_says_why():
    assert "No such file" in in_child(verify, {"collection": "nowhere", "threads": 1})["failed"]
    assert in_child(die, {"threads": 1}) == {"failed": "killed by signal 9 (out of memory?)"}
