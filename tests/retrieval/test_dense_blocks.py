"""Encoding side by side: the same bytes in any order of results, and after any kill."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dense_helpers import Numbers, build, numbers, text_of  # noqa: F401
from helpers import contents
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.encoders import ENCODERS
from arena.retrieval.dense import _build
from corpus_builder.cli import main

pytestmark = pytest.mark.usefixtures("numbers")

PAPERS = [None if i % 5 == 2 else " " if i == 8 else text_of([i + 1, i * i, 1]) for i in range(41)]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(_build, "BATCH_ROWS", 3)
    _build._encoder.cache_clear()
    yield
    _build._encoder.cache_clear()


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The files that a build in one process writes."""
    directory = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        ENCODERS.names()
        patch.setitem(ENCODERS._items, "numbers", Numbers)
        patch.setattr(_build, "BATCH_ROWS", 3)
        build(PAPERS, directory)
    return contents(directory)


class Shuffled:
    """Runs a few tasks at a time and yields their results in an order drawn at random."""

    def __init__(self, seed: int, ahead: int, stop_after: int | None = None) -> None:
        self.rows: list[int] = []
        self._random, self._ahead, self._left = random.Random(seed), ahead, stop_after

    def __call__(self, function: Callable[[Any], Any], tasks: Iterable[Any]) -> Iterator[Any]:
        left, flying = iter(tasks), []
        while True:
            for task in left:
                flying.append(task)
                if len(flying) >= self._ahead:
                    break
            if not flying:
                return
            if self._left == 0:
                raise KeyboardInterrupt
            self._left = None if self._left is None else self._left - 1
            task = flying.pop(self._random.randrange(len(flying)))
            self.rows.append(task[0].row)
            yield function(task)


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), ahead=st.integers(1, 20))
def test_any_order_of_results(
    whole: dict[str, Any], tmp_path_factory: pytest.TempPathFactory, seed: int, ahead: int
) -> None:
    directory = tmp_path_factory.mktemp("any")
    build(PAPERS, directory, parallel=Shuffled(seed, ahead))
    assert contents(directory) == whole


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10**6), stop=st.integers(0, 10), serial=st.booleans())
def test_what_was_encoded_is_not_encoded_again(
    whole: dict[str, Any],
    tmp_path_factory: pytest.TempPathFactory,
    seed: int,
    stop: int,
    serial: bool,
) -> None:
    directory = tmp_path_factory.mktemp("again")
    first, second = Shuffled(seed, 6, stop), Shuffled(seed, 6)
    with pytest.raises(KeyboardInterrupt):
        build(PAPERS, directory, parallel=first)
    state = directory / "building.json"
    done = json.loads(state.read_bytes())["rows"] if state.exists() else 0
    assert done == next(row for row in range(0, 36, 3) if row not in first.rows[:stop])
    if serial:
        build(PAPERS, directory)
    else:
        build(PAPERS, directory, parallel=second)
        assert sorted(second.rows) == list(range(done, 33, 3))
    assert contents(directory) == whole


def test_processes_of_this_machine(synthetic: Path, tmp_path: Path, capsys: Any) -> None:
    """The real encoder in two processes."""
    found = []
    for name, workers in (("one", "1"), ("two", "2")):
        corpus = shutil.copytree(synthetic, tmp_path / name)
        assert main(["index", str(corpus), "--engine", "dense", "--name", "mine",
                     "--workers", workers]) == 0  # fmt: skip
        found.append(contents(corpus / "index/mine"))
    assert found[0] == found[1]
    assert not list((tmp_path / "two/index").glob(".*"))
