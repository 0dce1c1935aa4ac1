"""The tools ``select``, ``submit``, ``organize`` and ``finish``: what an agent answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arena.errors import DataError
from arena.papers import MAX_SUBMITTED
from arena.tools.base import TOOLS, Tool, ToolError

if TYPE_CHECKING:
    from arena.tools.episode import Episode


def select(episode: Episode, paper_ids: list[str]) -> dict[str, Any]:
    """Keep papers for later: `finish` submits them. Nothing ends.

    Args:
        episode: the running episode.
        paper_ids: ids that searches returned; they are added to those selected before.
    """
    chosen = episode.selected | dict.fromkeys(episode.papers(paper_ids))
    if len(chosen) > MAX_SUBMITTED:
        raise ToolError(
            f"that would make {len(chosen)} selected papers. Select at most {MAX_SUBMITTED}."
        )
    episode.selected = chosen
    return {"selected": len(chosen)}


def submit(episode: Episode, paper_ids: list[str]) -> dict[str, Any]:
    """Submit the papers, best first. This ends the stage. A repeated id counts once.

    Args:
        episode: the running episode.
        paper_ids: ids that searches returned.
    """
    ranking = episode.papers(paper_ids)
    return {"submitted": len(ranking)} | episode.submit("ranking", ranking)


_MAX_REPAIRS = 20


def organize(episode: Episode, mind_map: dict[str, Any]) -> dict[str, Any]:
    """Submit a mind-map of the topic: a tree of headings with papers filed under them.

    This ends the stage.

    Args:
        episode: the running episode.
        mind_map: the root, {"label": heading, "children": [the same again ...], "papers": [ids]};
            children and papers may be left out.
    """
    from arena.mindmap import read_mind_map
    from arena.mindmap.tree import MAX_HEADINGS

    try:
        tree, repairs = read_mind_map(mind_map)
    except DataError as error:
        raise ToolError(str(error)) from None
    if tree.size > MAX_HEADINGS:
        raise ToolError(f"the mind-map has {tree.size} headings. Give at most {MAX_HEADINGS}.")
    episode.papers(tree.all_papers())
    result: dict[str, Any] = {"organized": tree.size}
    if repairs:
        result["repairs"] = repairs[:_MAX_REPAIRS]
    return result | episode.submit("mind_map", tree)


def finish(episode: Episode) -> dict[str, Any]:
    """End the episode. Where a ranking is due, the selected papers are submitted in their order.

    Args:
        episode: the running episode.
    """
    before = len(episode.answers)
    episode.finish()
    submitted = len(episode.selected) if len(episode.answers) > before else 0
    return {"submitted": submitted}


for _function in (select, submit, organize, finish):
    TOOLS.register(_function.__name__)(Tool.of(_function))
