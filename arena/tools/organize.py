"""The tool ``organize``."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from arena.errors import DataError, UnreadableError
from arena.tools.base import ToolError, tool

if TYPE_CHECKING:
    from arena.mindmap import MindMap
    from arena.tools.episode import Episode

_MAX_REPAIRS = 20


@tool("organize")
def organize(episode: Episode, mind_map: dict[str, Any]) -> dict[str, Any]:
    """Submit a mind-map of the topic: a tree of headings with papers filed under them.

    This ends the stage.

    Args:
        mind_map: the root, {"label": heading, "children": [the same again ...], "papers": [ids]};
            children and papers may be left out.
    """
    from arena.mindmap import read_mind_map
    from arena.mindmap.tree import MAX_HEADINGS

    try:
        tree, repairs = read_mind_map(mind_map)
    except UnreadableError:
        raise
    except DataError as error:
        raise ToolError(str(error)) from None
    if tree.size > MAX_HEADINGS:
        raise ToolError(f"the mind-map has {tree.size} headings. Give at most {MAX_HEADINGS}.")
    episode.papers(tree.all_papers())
    if not tree.all_papers():
        repairs = ["the map files no paper", *repairs]
    result: dict[str, Any] = {"organized": tree.size, "filed": filing_counts(tree, episode.given)}
    if repairs:
        result["repairs"] = repairs[:_MAX_REPAIRS]
    return result | episode.submit("map", tree)


def filing_counts(tree: MindMap, given: Collection[str]) -> dict[str, int]:
    """Return how papers are filed: TaxoBench wants each in exactly one leaf.

    Numbers of distinct papers: ``in_one_leaf``, under one heading with none below it;
    ``in_several``, under more than one heading; ``at_inner``, under one heading with others below
    it; ``left_out``, papers `given` at the start of the episode that are filed nowhere.
    """
    places: dict[str, list[bool]] = {}
    for node in tree.nodes():
        for paper in node.papers:
            places.setdefault(paper, []).append(not node.children)
    return {
        "in_one_leaf": sum(leaves == [True] for leaves in places.values()),
        "in_several": sum(len(leaves) > 1 for leaves in places.values()),
        "at_inner": sum(leaves == [False] for leaves in places.values()),
        "left_out": len(set(given) - places.keys()),
    }
