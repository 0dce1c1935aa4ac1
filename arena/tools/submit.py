"""The tools ``select``, ``submit`` and ``finish``."""

from __future__ import annotations

from typing import Any

from arena.papers import MAX_SUBMITTED
from arena.tools.base import ToolError, tool
from arena.tools.episode import Episode


@tool("select")
def select(episode: Episode, paper_ids: list[str]) -> dict[str, Any]:
    """Keep papers for later: `finish` submits them. Nothing ends.

    Args:
        paper_ids: ids that searches returned; they are added to those selected before.
    """
    chosen = episode.selected | dict.fromkeys(episode.papers(paper_ids))
    if len(chosen) > MAX_SUBMITTED:
        raise ToolError(
            f"that would make {len(chosen)} selected papers. Select at most {MAX_SUBMITTED}."
        )
    episode.selected = chosen
    return {"selected": len(chosen)}


@tool("submit")
def submit(episode: Episode, paper_ids: list[str]) -> dict[str, Any]:
    """Submit the papers, best first. This ends the stage. A repeated id counts once.

    Args:
        paper_ids: ids that searches returned.
    """
    ranking = episode.papers(paper_ids)
    return {"submitted": len(ranking)} | episode.submit("ranking", ranking)


@tool("finish")
def finish(episode: Episode) -> dict[str, Any]:
    """End the episode. Where a ranking is due, the selected papers are submitted in their order."""
    return {"submitted": episode.finish()}
