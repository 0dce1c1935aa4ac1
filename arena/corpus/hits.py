"""Searches in views, alone or many together: every ranking is held to its scope, then read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from arena.dates import format_day
from arena.papers import Hit

if TYPE_CHECKING:
    from arena.corpus.store import Store
    from arena.corpus.view import CorpusView
    from arena.retrieval import Ranking, Request, Retriever


def rankings_of(searches: Sequence[tuple[CorpusView, str, int]]) -> list[Ranking]:
    """Make searches, those of one engine in one batch, and return what was found.

    Args:
        searches: (view, query, k) triples; the views may be of any corpora, cutoffs and engines.

    Raises:
        DataError, UnknownNameError, CorpusError: as `CorpusView.search`.
    """
    groups: dict[tuple[int, int], tuple[Retriever, list[int]]] = {}
    requests = [view._request(query, k) for view, query, k in searches]
    for place, (view, _, _) in enumerate(searches):
        engine = view._engine()
        groups.setdefault((id(engine), id(view._store)), (engine, []))[1].append(place)
    found: list[Any] = [None] * len(searches)
    for engine, places in groups.values():
        views = [searches[place][0] for place in places]
        asked = [requests[place] for place in places]
        rankings = engine.search_batch(asked)
        if not _sound(views, asked, rankings):
            for view, request, ranking in zip(views, asked, rankings, strict=True):
                view._check(ranking, request.k)
        for place, ranking in zip(places, rankings, strict=True):
            found[place] = ranking
    return found


def hits_of(views: Sequence[CorpusView], rankings: Sequence[Ranking]) -> list[list[Hit]]:
    """Return the hits of checked rankings; the lists of one corpus are read at once."""
    found: list[list[Hit]] = [[] for _ in views]
    stores: dict[int, list[int]] = {}
    for place, view in enumerate(views):
        stores.setdefault(id(view._store), []).append(place)
    for places in stores.values():
        hits = read_hits(
            views[places[0]]._store,
            np.concatenate([rankings[place].documents for place in places]),
            np.concatenate([rankings[place].scores for place in places]),
        )
        bounds = accumulate((len(rankings[place].documents) for place in places), initial=0)
        for place, (low, high) in zip(places, pairwise(bounds), strict=True):
            found[place] = hits[low:high]
    return found


def read_hits(store: Store, documents: NDArray[np.int64], scores: NDArray[np.float64]) -> list[Hit]:
    """Return the hits of documents."""
    rows = zip(
        store.ids.many(documents),
        store.titles.many(documents),
        map(format_day, store.days[documents].tolist()),
        scores.tolist(),
        strict=True,
    )
    return list(map(_HIT, rows))


# What `Hit._make` does, without a call of Python code for each.
_HIT: Callable[[tuple[Any, ...]], Hit] = partial(tuple.__new__, Hit)


def _sound(views: list[CorpusView], requests: list[Request], rankings: list[Ranking]) -> bool:
    """Return whether `CorpusView._check` finds no fault in any of the rankings of one corpus."""
    sizes = [len(ranking.documents) for ranking in rankings]
    if len(sizes) != len(views) or any(
        len(ranking.scores) != size or size > request.k
        for ranking, size, request in zip(rankings, sizes, requests, strict=True)
    ):
        return False
    documents = np.concatenate([ranking.documents for ranking in rankings])
    store = views[0]._store
    ends = np.repeat([view._scope.end for view in views], sizes)
    if documents.dtype != np.int64 or (documents < 0).any() or (documents >= ends).any():
        return False
    before = store.searchable_before
    if (before[documents + 1] == before[documents]).any():
        return False
    if not np.isfinite(np.concatenate([ranking.scores for ranking in rankings])).all():
        return False
    keys = np.repeat(np.arange(len(views)) * len(before), sizes) + documents
    keys.sort()
    if (keys[1:] == keys[:-1]).any():
        return False
    return not any(
        view._excluded and not view._excluded.isdisjoint(ranking.documents.tolist())
        for view, ranking in zip(views, rankings, strict=True)
    )
