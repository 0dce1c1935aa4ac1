"""The searches of tools, and their hits as JSON text.

An environment makes one search at a time, a vector environment the searches of all its episodes
in one batch. The text of a hit without its score does not depend on the query: it is written once
per paper.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from operator import add

import orjson

from arena.corpus.view import Ranked, rank_batch
from arena.papers import MAX_TITLE, Brief
from arena.tools.base import Search, Shown

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Return a result as JSON text without spaces, with letters of every script as they are."""


def make_searches(searches: Sequence[Search]) -> list[Shown]:
    """Make searches, those of one engine in one batch, and return the results in order.

    Args:
        searches: Searches of any views.

    Returns:
        For each the JSON text of ``{"hits": [{"id", "title", "date", "score"}, ...]}``, best
        first, with a ``message`` where nothing is left to list.

    Raises:
        DataError, UnknownNameError, CorpusError: As `CorpusView.search`.
    """
    ranked = rank_batch([(s.view, s.query, s.offset + s.k) for s in searches], hit_text)
    return [_listed(one, search.offset) for search, one in zip(searches, ranked, strict=True)]


def hit_text(paper: Brief) -> tuple[str, str]:
    """Return the id of a paper, and the JSON text of a hit up to its score."""
    text = encode({"id": paper.id, "title": paper.title[:MAX_TITLE], "date": paper.date})
    return paper.id, f'{text[:-1]},"score":'


def _listed(ranked: Ranked[tuple[str, str]], offset: int) -> Shown:
    papers = ranked.papers[offset:]
    if not papers:
        more = len(ranked.papers) > 0
        message = "No more papers match." if more else "Nothing matches. Try other words."
        return Shown(encode({"hits": [], "message": message}), ())
    ids, texts = zip(*papers, strict=True)
    scores = orjson.dumps(ranked.scores[offset:]).decode()[1:-1].split(",")
    hits = "},".join(map(add, texts, scores))
    return Shown(f'{{"hits":[{hits}}}]}}', ids)
