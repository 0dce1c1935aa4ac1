"""The tools ``references`` and ``citations``."""

from __future__ import annotations

import math
from typing import Annotated

from annotated_types import Ge

from arena.errors import clip
from arena.papers import PER_PAGE
from arena.tools.base import ToolError, ToolResult, tool
from arena.tools.episode import Episode


@tool("references")
def references(episode: Episode, paper_id: str, page: Annotated[int, Ge(1)] = 1) -> ToolResult:
    """List the papers that a paper cites, oldest first, with id, title and date.

    Args:
        paper_id: an id that a search returned.
        page: page of a long list, from 1; a page has 100 papers.
    """
    return _listed(episode, "references", paper_id, episode.view.references(paper_id), page)


@tool("citations")
def citations(episode: Episode, paper_id: str, page: Annotated[int, Ge(1)] = 1) -> ToolResult:
    """List the papers that cite a paper, oldest first, with id, title and date.

    Args:
        paper_id: an id that a search returned.
        page: page of a long list, from 1; a page has 100 papers.
    """
    return _listed(episode, "citations", paper_id, episode.view.citations(paper_id), page)


def _listed(episode: Episode, what: str, paper_id: str, linked: list[str], page: int) -> ToolResult:
    pages = max(1, math.ceil(len(linked) / PER_PAGE))
    if page > pages:
        raise ToolError(f"page={clip(page)} does not exist. The list has pages 1 to {pages}.")
    episode.spend("reads")
    shown = linked[(page - 1) * PER_PAGE : page * PER_PAGE]
    result = {
        "id": paper_id,
        "total": len(linked),
        "page": page,
        "pages": pages,
        what: episode.listed(shown),
    }
    return ToolResult(result, shown)
