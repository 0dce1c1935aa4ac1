"""The state of one episode, and the tools that act on it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from arena.envs.tools import Tool
from arena.errors import ArenaError, clip
from arena.tasks import MAX_SUBMITTED
from arena.view import CorpusView

MAX_QUERY = 10_000
"""Longest query in characters."""
PAGE = 8_000
"""Characters of full text in one page of `read`."""
_MAX_TITLE = 500
_MAX_HEADINGS = 100


class ToolError(ArenaError):
    """A call that cannot be carried out; its message is the agent's observation."""


class BudgetError(ToolError):
    """A call for which no budget is left; it ends the episode."""


@dataclass
class Episode:
    """What an episode knows. It holds no label: scoring is the environment's part."""

    view: CorpusView
    max_k: int
    searches_left: int
    submitted: list[str] | None = field(default=None)


def search(episode: Episode, query: str, k: int = 10) -> dict[str, Any]:
    """Find papers by words. Returns hits with id, title, date and score, best first.

    Args:
        episode: the running episode.
        query: what to search for, in plain words.
        k: how many hits at most.
    """
    if not 1 <= k <= episode.max_k:
        raise ToolError(f"k={clip(k)} is out of range. Give k from 1 to {episode.max_k}.")
    if len(query) > MAX_QUERY:
        raise ToolError(f"the query has {len(query)} characters. Give at most {MAX_QUERY}.")
    if episode.searches_left <= 0:
        raise BudgetError("no searches are left, so the episode is over.")
    episode.searches_left -= 1
    hits = episode.view.search(query, k)
    found = [
        {"id": hit.id, "title": hit.title[:_MAX_TITLE], "date": hit.date, "score": hit.score}
        for hit in hits
    ]
    return (
        {"hits": found} if found else {"hits": [], "message": "Nothing matches. Try other words."}
    )


def read(episode: Episode, paper_id: str, section: int = 0, page: int = 1) -> dict[str, Any]:
    """Read a paper: section 0 is the abstract, the others are the full text, in pages.

    Args:
        episode: the running episode.
        paper_id: an id that a search returned.
        section: number of the section, from 0; each result lists them.
        page: page of a long section, from 1.
    """
    view = episode.view
    paper = view.paper(paper_id)
    sections = [("Abstract", paper.abstract), *view.sections(paper_id)]
    if not 0 <= section < len(sections):
        raise ToolError(
            f"section={clip(section)} does not exist. {clip(paper_id)} has sections 0 to "
            f"{len(sections) - 1}."
        )
    heading, text = sections[section]
    pages = max(1, math.ceil(len(text) / PAGE))
    if not 1 <= page <= pages:
        raise ToolError(
            f"page={clip(page)} does not exist. Section {section} has pages 1 to {pages}."
        )
    return {
        "id": paper.id,
        "title": paper.title[:_MAX_TITLE],
        "date": paper.date,
        "citations": view.citation_count(paper_id),
        "sections": [name[:100] for name, _ in sections[:_MAX_HEADINGS]],
        "section": section,
        "heading": heading[:_MAX_TITLE],
        "page": page,
        "pages": pages,
        "text": text[(page - 1) * PAGE : page * PAGE],
    }


def submit(episode: Episode, paper_ids: list[str]) -> dict[str, Any]:
    """Hand in the answer, best first, and end the episode. A repeated id counts once.

    Args:
        episode: the running episode.
        paper_ids: ids that searches returned.
    """
    ranking = list(dict.fromkeys(paper_ids))
    if len(ranking) > MAX_SUBMITTED:
        raise ToolError(f"{len(ranking)} ids are too many. Submit at most {MAX_SUBMITTED}.")
    if unknown := [paper_id for paper_id in ranking if paper_id not in episode.view]:
        raise ToolError(
            f"no paper {', '.join(clip(paper_id) for paper_id in unknown[:5])} here "
            f"({len(unknown)} of {len(ranking)} ids). Use ids that a search returned."
        )
    episode.submitted = ranking
    return {"submitted": len(ranking)}


TOOLS = {tool.name: tool for tool in (Tool.of(search), Tool.of(read), Tool.of(submit))}
