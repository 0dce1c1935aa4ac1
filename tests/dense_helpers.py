"""Helpers for tests of the engine dense: papers, an encoder that reads numbers, an oracle."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import Papers as Papers

from arena.encoders import ENCODERS
from arena.retrieval import Ranking, Request, Scope
from arena.retrieval.dense import Dense


class Numbers:
    """A text is the numbers of its vector."""

    def __init__(self, dimension: int = 3, name: str = "numbers") -> None:
        self.dimension = dimension
        self.config: dict[str, Any] = {"model": name, "runtime": {"version": 1}}

    def documents(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([np.fromstring(text, sep=" ") for text in texts], np.float32)

    queries = documents


@pytest.fixture
def numbers(monkeypatch):
    """The encoder `Numbers`, registered while a test runs."""
    ENCODERS.names()
    monkeypatch.setitem(ENCODERS._items, "numbers", Numbers)


def text_of(vector: Sequence[float]) -> str:
    return " ".join(repr(float(x)) for x in vector)


def build(
    papers: Sequence[str | None], directory: Path, kind: type[Dense] = Dense, **options: Any
) -> dict[str, Any]:
    directory.mkdir(exist_ok=True)
    options = {"encoder": "numbers", **options}
    return kind.build(Papers(papers), directory, ("title",), plain, **options)


def built(papers: Sequence[str | None], directory: Path, **options: Any) -> Dense:
    build(papers, directory, **options)
    return Dense.open(directory, device="cpu")


def plain(iterable: Any, **options: Any) -> Any:
    """A progress bar that shows nothing."""
    return iterable


def oracle(
    directory: Path, query: np.ndarray, k: int, end: int, excluded: set[int] = frozenset()
) -> list[tuple[int, float]]:
    """Rank by inner products in whole numbers: every float16 is a multiple of 2 ** -24."""
    documents = np.load(directory / "documents.npy").tolist()
    vectors = np.load(directory / "vectors.npy").astype(np.float64) * 2.0**24
    wanted = [int(x) for x in query.astype(np.float64) * 2.0**24]
    scored = []
    for document, vector in zip(documents, vectors.tolist(), strict=True):
        if document < end and document not in excluded:
            product = sum(a * int(b) for a, b in zip(wanted, vector, strict=True))
            scored.append((document, product / 2**48))
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))[:k]


def same(first: Ranking, second: Ranking) -> bool:
    return (
        first.documents.tobytes() == second.documents.tobytes()
        and first.scores.tobytes() == second.scores.tobytes()
    )


def every_way(engine: Dense, query: str, k: int, scope: Scope) -> Ranking:
    """Search alone and in a batch among others; return what both return."""
    alone = engine.search(query, k, scope)
    others = [Request(query, k + i, Scope(max(scope.end + 3 - i, 0))) for i in range(9)]
    batch = engine.search_batch([*others, Request(query, k, scope), *others])
    assert same(batch[9], alone)
    return alone
