"""The tool ``read``."""

from __future__ import annotations

import math
from typing import Annotated

from annotated_types import Ge

from arena.errors import clip
from arena.papers import MAX_TITLE, PAGE, SECTION_NAME, SECTIONS
from arena.tools.base import ToolError, ToolResult, tool
from arena.tools.episode import Episode


@tool("read")
def read(
    episode: Episode,
    paper_id: str,
    section: Annotated[int, Ge(0)] = 0,
    page: Annotated[int, Ge(1)] = 1,
) -> ToolResult:
    """Read a paper: section 0 is the abstract, the others are the full text, in pages.

    Args:
        paper_id: an id that a search returned.
        section: number of the section, from 0; each result lists them.
        page: page of a long section, from 1.
    """
    view = episode.view
    paper = view.paper(paper_id)
    sections = [episode.abstract(paper), *view.sections(paper_id)]
    if section >= len(sections):
        raise ToolError(
            f"section={clip(section)} does not exist. {clip(paper_id)} has sections 0 to "
            f"{len(sections) - 1}."
        )
    heading, text = sections[section]
    pages = max(1, math.ceil(len(text) / PAGE))
    if page > pages:
        raise ToolError(
            f"page={clip(page)} does not exist. Section {section} has pages 1 to {pages}."
        )
    episode.spend("reads")
    result = {
        "id": paper.id,
        "title": paper.title[:MAX_TITLE],
        "date": paper.date,
        "cited_by": view.citation_count(paper_id),
        "sections": [name[:SECTION_NAME] for name, _ in sections[:SECTIONS]],
        "section": section,
        "heading": heading[:MAX_TITLE],
        "characters": len(text),
        "page": page,
        "pages": pages,
        "text": text[(page - 1) * PAGE : page * PAGE],
    }
    if not paper.date:  # it was given in a list, without links
        del result["cited_by"]
    return ToolResult(result, (paper.id,))
