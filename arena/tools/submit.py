"""The tool ``submit``."""

from __future__ import annotations

from typing import Any

from arena.tools.base import tool
from arena.tools.episode import Episode


@tool("submit")
def submit(episode: Episode, paper_ids: list[str]) -> dict[str, Any]:
    """Submit the papers, best first. This ends the stage. A repeated id counts once.

    Args:
        paper_ids: ids that searches returned.
    """
    ranking = episode.papers(paper_ids)
    return {"submitted": len(ranking)} | episode.submit("ranking", ranking)
