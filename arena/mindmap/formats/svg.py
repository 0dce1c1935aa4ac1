"""A picture that scales."""

from __future__ import annotations

from arena.mindmap._drawing.paint import draw
from arena.mindmap._formats import FORMATS, Format
from arena.mindmap.tree import MindMap


def svg(tree: MindMap) -> str:
    """A picture; hold the pointer over a label for the whole of it."""
    return draw([tree])


FORMATS.register("svg")(Format(svg, (".svg",), draw))
