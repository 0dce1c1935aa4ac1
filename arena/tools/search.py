"""The tool ``search``, and how its searches are made.

An environment makes one search at a time, a vector environment the searches of all its episodes
in one batch. The text of a hit without its score does not depend on the query: it is written once
per paper.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from operator import add
from typing import Annotated

import orjson
from annotated_types import Interval

from arena.corpus.view import Ranked, rank_batch
from arena.papers import MAX_QUERY, MAX_TITLE, Brief
from arena.tools.base import TOOLS, Search, Shown, Tool, ToolError
from arena.tools.episode import Episode

MAX_K = 1_000
MAX_OFFSET = 1_000

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Return a result as JSON text without spaces, with letters of every script as they are."""


def search(
    episode: Episode,
    query: str,
    k: Annotated[int, Interval(ge=1, le=MAX_K)] = 10,
    offset: Annotated[int, Interval(ge=0, le=MAX_OFFSET)] = 0,
    retriever: str | None = None,
) -> Search:
    """Find papers by words. Returns hits with id, title, date and score, best first.

    Args:
        query: what to search for, in plain words.
        k: how many hits at most.
        offset: how many of the best hits to pass over, to see what comes after them.
        retriever: the search engine; by default the environment's own.
    """
    if len(query) > MAX_QUERY:
        raise ToolError(f"the query has {len(query)} characters. Give at most {MAX_QUERY}.")
    view = episode.view if retriever is None else episode.view_of(retriever)
    episode.spend("searches")
    return Search(view, query, k, offset)


def make_searches(searches: Sequence[Search]) -> list[Shown]:
    """Make searches, those of one engine in one batch, and return the results in order.

    Each is the JSON text of ``{"hits": [{"id", "title", "date", "score"}, ...]}``, best first, with
    a ``message`` where nothing is left to list.
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


TOOLS.register("search")(Tool.of(search))
