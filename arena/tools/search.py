"""The tool ``search``."""

from __future__ import annotations

from arena.papers import MAX_QUERY
from arena.tools.base import TOOLS, Search, Tool, ToolError
from arena.tools.episode import Episode

MAX_K = 1_000
MAX_OFFSET = 1_000


def search(
    episode: Episode, query: str, k: int = 10, offset: int = 0, retriever: str | None = None
) -> Search:
    """Find papers by words. Returns hits with id, title, date and score, best first.

    Args:
        episode: the running episode.
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


TOOLS.register("search")(Tool.of(search, k=(1, MAX_K), offset=(0, MAX_OFFSET)))
