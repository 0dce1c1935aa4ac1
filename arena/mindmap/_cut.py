"""A mind-map without its deeper levels."""

from __future__ import annotations

from arena.errors import DataError, clip
from arena.mindmap.tree import MindMap


def cut(tree: MindMap, depth: int) -> MindMap:
    """Return the mind-map down to `depth` levels below the root.

    The papers of what is left out are filed under the lowest node above it that is kept, so that
    none is lost.

    Raises:
        DataError: `depth` is negative.

    Example:
        >>> tree = MindMap("A", (MindMap("B", (MindMap("C", papers=("p2",)),), ("p1",)),))
        >>> cut(tree, 1).labels(), cut(tree, 1).children[0].papers
        (['B'], ('p1', 'p2'))
    """
    if depth < 0:
        raise DataError(f"depth {clip(depth)}: expected 0 or more levels.")
    levels = [[tree]]
    while len(levels) <= depth and levels[-1]:
        levels.append([child for node in levels[-1] for child in node.children])
    below = [MindMap(node.label, (), tuple(node.all_papers())) for node in levels.pop()]
    for level in reversed(levels):
        made = iter(below)
        below = [
            MindMap(node.label, tuple(next(made) for _ in node.children), node.papers)
            for node in level
        ]
    return below[0]
