"""Queries that no cache can have seen: words of titles, each query once."""

from __future__ import annotations

import random
from collections.abc import Iterator

from arena.corpus.store import Store

_WORDS = (3, 6)


def queries_of(store: Store, seed: int) -> Iterator[str]:
    """Yield distinct queries without end: three to six neighbouring words of a paper's title.

    A query that was there before gets words of further titles, so that a small corpus has enough.

    Args:
        store: of a corpus with a searchable paper that has a title.
        seed: of the choice.
    """
    rng = random.Random(seed)
    searchable = [n for n in range(len(store.titles)) if store.is_searchable(n)]
    given: set[str] = set()
    while True:
        words = _neighbours(rng, store.titles[rng.choice(searchable)].split())
        while " ".join(words) in given:
            words += _neighbours(rng, store.titles[rng.choice(searchable)].split())
        given.add(" ".join(words))
        yield " ".join(words)


def _neighbours(rng: random.Random, words: list[str]) -> list[str]:
    count = min(len(words), rng.randint(*_WORDS))
    start = rng.randrange(len(words) - count + 1)
    return words[start : start + count]
