"""Every engine that is installed here answers as the oracle does, in a process of its own."""

from __future__ import annotations

import json

import pytest

from arena.bench._pieces import Pieces, file_name
from arena.bench.engines.base import ENGINES, ordered_names
from arena.errors import UnknownNameError


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A collection with vectors, made as a benchmark makes it."""
    directory = tmp_path_factory.mktemp("engines")
    pieces = Pieces(directory / "pieces")
    job = {
        "documents": 1200, "queries": 12, "seed": 1, "corpus": None, "k": 30, "batch": 5,
        "cutoffs": [0.01, 5, 60, 100], "threads": 2, "collection": str(directory / "collection"),
    }  # fmt: skip
    for action in ("collection", "vectors"):
        assert pieces.do(action, job | {"action": action}, 2) is None
    return directory, pieces, job


@pytest.mark.parametrize("name", ordered_names())
def test_the_engine_agrees_with_the_oracle(work, name):
    directory, pieces, job = work
    missing = ENGINES.get(name).missing()
    if missing:
        pytest.skip(f"{name}: {missing}")
    job = job | {"engine": name, "index": str(directory / file_name(name))}
    if name == "bm25s":
        job["threads"] = 1  # numba compiles its parallel loop for half a minute
    for action in ("build", "verify"):
        assert pieces.do(f"{name}.{action}", job | {"action": action}, 2) is None
    told = pieces.read(f"{name}.verify")
    assert told["difference"] is None
    assert pieces.read(f"{name}.build")["bytes"] > 0
    required = {distribution for _, distribution in ENGINES.get(name).requires}
    assert set(pieces.read(f"{name}.build")["versions"]) >= required


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


def test_a_piece_that_fails_says_why(tmp_path):
    pieces = Pieces(tmp_path)
    assert pieces.do("x", {"action": "verify", "collection": "nowhere"}, 1) is not None
    assert "No such file" in pieces.read("x")["failed"]
    assert not pieces.done("x")
    assert not pieces.done("never")
    json.loads((tmp_path / "x.json").read_text())
