"""The tool ``organize``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from arena.errors import DataError
from arena.tools.base import TOOLS, Tool, ToolError

if TYPE_CHECKING:
    from arena.tools.episode import Episode

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


TOOLS.register("organize")(Tool.of(organize))
