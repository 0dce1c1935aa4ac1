"""The tool ``search``, and how its searches are made.

An environment makes one search at a time, a vector environment the searches of all its episodes
in one batch. The text of a hit without its score does not depend on the query: it is written once
per paper.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from operator import add
from typing import Annotated, Any

import orjson
from annotated_types import Interval, Len

from arena.corpus.view import RankedPapers, rank_batch
from arena.papers import MAX_QUERIES, MAX_QUERY, MAX_TITLE, Brief
from arena.text.display import count
from arena.tools.base import Search, ToolError, ToolResult, tool
from arena.tools.episode import Episode

MAX_K = 1_000
MAX_OFFSET = 1_000

encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
"""Return a result as JSON text without spaces, with letters of every script as they are."""

SCORE = re.compile(r'(?<=","score":)-?\d[-+.0-9e]*(?=\})')
"""Finds the scores of hits in the JSON text of a result; in a text their quotes are escaped."""


@tool("search", either=["query", "queries"])
def search(
    episode: Episode,
    query: str | None = None,
    k: Annotated[int, Interval(ge=1, le=MAX_K)] = 10,
    offset: Annotated[int, Interval(ge=0, le=MAX_OFFSET)] = 0,
    retriever: str | None = None,
    queries: Annotated[list[str], Len(2, MAX_QUERIES)] | None = None,
    fuse: bool = True,
) -> Search:
    """Find papers by words. Returns hits with id, title, date and score, best first.

    Args:
        query: what to search for, in plain words.
        k: how many hits at most.
        offset: how many of the best hits to pass over, to see what comes after them.
        retriever: the search engine; by default the environment's own.
        queries: 2 to 16 queries in place of query, in one call; each costs a search.
        fuse: whether the hits of queries come as one list, or as a list for each of them.
    """
    if (query is None) == (queries is None):
        raise ToolError("search needs the argument 'query' or 'queries', and not both.")
    asked = tuple(queries or ()) if query is None else (query,)
    if (longest := max(map(len, asked))) > MAX_QUERY:
        raise ToolError(f"the query has {longest} characters. Give at most {MAX_QUERY}.")
    view = episode.view if retriever is None else episode.view_of(retriever)
    if 0 < (left := episode.budget["searches"]) < len(asked):
        raise ToolError(
            f"{len(asked)} queries need a search each, and {count(left, 'is', 'are')} left."
        )
    for _ in asked:
        episode.spend("searches")
    return Search(view, asked, k, offset, fuse)


def queries_of(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the queries in the arguments of a call; none of a call that searches nothing."""
    query = arguments.get("query")
    return tuple(arguments.get("queries") or ()) if query is None else (query,)


def make_searches(searches: Sequence[Search]) -> list[ToolResult]:
    """Make searches, those of one engine in one batch, and return the results in order.

    Each is the JSON text of ``{"hits": [{"id", "title", "date", "score"}, ...]}``, best first, with
    a ``message`` where nothing is left to list; of several queries that are not fused that of
    ``{"lists": [...]}`` with such an object for each.
    """
    asked: list[Any] = []
    for search in searches:
        several = search.fuse and len(search.queries) > 1
        lists = [search.queries] if several else search.queries
        asked += [(search.view, each, search.offset + search.k) for each in lists]
    rest = iter(rank_batch(asked, hit_text))
    results = []
    for search in searches:
        if search.fuse or len(search.queries) == 1:
            results.append(_listed(next(rest), search.offset))
        else:
            parts = [_listed(next(rest), search.offset) for _ in search.queries]
            text = ",".join(str(each.result) for each in parts)
            papers = [paper for each in parts for paper in each.papers]
            results.append(ToolResult(f'{{"lists":[{text}]}}', papers))
    return results


def hit_text(paper: Brief) -> tuple[str, str]:
    """Return the id of a paper, and the JSON text of a hit up to its score."""
    text = encode({"id": paper.id, "title": paper.title[:MAX_TITLE], "date": paper.date})
    return paper.id, f'{text[:-1]},"score":'


def _listed(ranked: RankedPapers[tuple[str, str]], offset: int) -> ToolResult:
    papers = ranked.papers[offset:]
    if not papers:
        more = len(ranked.papers) > 0
        message = "No more papers match." if more else "Nothing matches. Try other words."
        return ToolResult(encode({"hits": [], "message": message}), ())
    ids, texts = zip(*papers, strict=True)
    scores = orjson.dumps(ranked.scores[offset:]).decode()[1:-1].split(",")
    hits = "},".join(map(add, texts, scores))
    return ToolResult(f'{{"hits":[{hits}}}]}}', ids)
