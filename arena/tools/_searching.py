"""Make the searches that tools asked for, and write down what was found.

An environment makes one at a time, a vector environment those of all its episodes together. The
text of a paper, all of a hit but its score, is the same whatever the query: it is made once.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from operator import add
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import orjson

from arena.corpus.hits import rankings_of
from arena.dates import format_day
from arena.papers import MAX_TITLE
from arena.tools.base import Search, Shown

if TYPE_CHECKING:
    from arena.corpus.store import Store
    from arena.retrieval import Ranking

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Return a result as JSON text without spaces, with letters of every script as they are."""

_KEPT = 1 << 16  # papers, of some 300 bytes each


def make_searches(searches: Sequence[Search]) -> list[Shown]:
    """Make searches, those of one engine in one batch, and return the results in order.

    Args:
        searches: of any views.

    Returns:
        For each the JSON text of ``{"hits": [{"id", "title", "date", "score"}, ...]}``, best
        first, with a ``message`` where nothing is left to list.

    Raises:
        DataError, UnknownNameError, CorpusError: as `CorpusView.search`.
    """
    rankings = rankings_of([(s.view, s.query, s.offset + s.k) for s in searches])
    return [_listed(search, found) for search, found in zip(searches, rankings, strict=True)]


def _listed(search: Search, ranking: Ranking) -> Shown:
    start = search.offset
    documents = ranking.documents[start:].tolist()
    if not documents:
        more = len(ranking.documents) > 0
        told = "No more papers match." if more else "Nothing matches. Try other words."
        return Shown(encode({"hits": [], "message": told}), ())
    papers = _papers_of(search.view._store)
    ids, texts = zip(*map(papers.__getitem__, documents), strict=True)
    scores = orjson.dumps(ranking.scores[start:].tolist()).decode()[1:-1].split(",")
    hits = "},".join(map(add, texts, scores))
    return Shown(f'{{"hits":[{hits}}}]}}', ids)


class _Papers(dict[int, tuple[str, str]]):
    """Document number -> id, and the text of a hit up to its score; filled as it is asked."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        # Not the store itself, for whose sake this is kept.
        self._ids, self._titles, self._days = store.ids, store.titles, store.days

    def __missing__(self, document: int) -> tuple[str, str]:
        if len(self) >= _KEPT:
            self.clear()
        paper_id, title = self._ids[document], self._titles[document][:MAX_TITLE]
        date = format_day(self._days.item(document))
        text = encode({"id": paper_id, "title": title, "date": date})
        self[document] = found = (paper_id, f'{text[:-1]},"score":')
        return found


_known: WeakKeyDictionary[Store, _Papers] = WeakKeyDictionary()


def _papers_of(store: Store) -> _Papers:
    papers = _known.get(store)
    if papers is None:
        papers = _known[store] = _Papers(store)
    return papers
