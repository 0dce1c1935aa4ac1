"""The layout of a mind-map: a function from the tree to rectangles; nothing is drawn."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from arena.mindmap.tree import MindMap
from arena.text.display import shown, width

LINE = 1.28  # height of a line, in font sizes
_DOT = 9.0  # a node without a label
# DejaVu Sans, which a viewer without our fonts takes, is up to 8 % wider on 95 % of real headings,
# and not every viewer heeds textLength.
_SLACK = 1.08


class Style(NamedTuple):
    """One kind of node.

    Attributes:
        size: Font size in pixels.
        bold: Whether letters have weight 600.
        room: Width of a line; a wider label is broken.
        lines: Greatest number of lines.
        across: Space between text and edge, left and right.
        along: Space between text and edge, above and below.
    """

    size: float
    bold: bool
    room: float
    lines: int
    across: float
    along: float


ROOT = Style(18, True, 260, 5, 18, 11)
BRANCH = Style(14, True, 190, 3, 11, 6)
INNER = Style(12.5, False, 200, 3, 8, 3.5)
LEAF = Style(12.5, False, 250, 3, 4, 1)


@dataclass(slots=True)
class Box:
    """A node and the rectangle that holds its label; x and y are its top left corner."""

    node: MindMap
    level: int
    style: Style
    lines: list[str]
    width: float
    height: float
    mark: int  # number of the heading of another map that it matches, from 1; 0 for none
    children: list[Box] = field(default_factory=list)
    extent: float = 0.0  # height of all that is below, and at least its own
    branch: int = 0  # which part of the map it belongs to, from 1; 0 for what holds all parts
    x: float = 0.0
    y: float = 0.0


def lay_out(tree: MindMap, marks: Mapping[str, int]) -> list[Box]:
    """Return the nodes of a mind-map as boxes in preorder, from (0, 0) to the right and down.

    Children stand to the right of their parent. Every node has a band of its own height, in which
    all that is below it stands further out; bands of siblings do not meet, so that neither boxes
    nor links cross.

    Args:
        tree: The map.
        marks: Label -> number of the heading of another map that it matches.
    """
    root = fork = _box(tree, 0, {})
    boxes, waiting = [], [root]
    while waiting:
        box = waiting.pop()
        boxes.append(box)
        box.children = [_box(child, box.level + 1, marks) for child in box.node.children]
        waiting.extend(reversed(box.children))
    for box in reversed(boxes):
        box.extent = max(box.height, _stacked(box.children))
    while len(fork.children) == 1:
        fork = fork.children[0]
    for number, child in enumerate((fork if fork.children else root).children, 1):
        child.branch = number
    root.y = (root.extent - root.height) / 2
    for box in boxes:
        below = _stacked(box.children)
        top = box.y + (box.height - below) / 2
        for number, child in enumerate(box.children):
            child.branch = child.branch or box.branch
            top += _space(box.children[number - 1], child) if number else 0
            # The room for the links; a wide fan needs more, lest it be steep.
            child.x = box.x + box.width + _whole(min(30 + below / 14, 110))
            child.y = top + (child.extent - child.height) / 2
            top += child.extent
    return boxes


def _box(node: MindMap, level: int, marks: Mapping[str, int]) -> Box:
    style = (ROOT, BRANCH)[level] if level < 2 else INNER if node.children else LEAF
    mark, count = marks.get(node.label, 0), len(node.papers)
    label = f"{f'={mark} ' if mark else ''}{shown(node.label)}{f' ({count:,})' if count else ''}"
    lines = _wrap(label.strip(), style)
    across = max((width(line, style.size, style.bold) * _SLACK for line in lines), default=_DOT)
    along = max(len(lines) * style.size * LINE, _DOT)
    size = _whole(across + 2 * style.across), _whole(along + 2 * style.along)
    return Box(node, level, style, lines, *size, mark)


def _wrap(label: str, style: Style) -> list[str]:
    """Return a label as lines of about the same length, as few as its style's room allows.

    What is too long for the greatest number of lines ends in an ellipsis.
    """
    whole = width(label, style.size, style.bold)
    if whole <= style.room:
        return [label] if label else []
    most = max(3, int(len(label) * style.room / whole))  # characters of a line
    lines = textwrap.wrap(label, most, max_lines=style.lines, placeholder="…")
    for room in range(most - 1, len(label) // len(lines) - 1, -1):
        narrower = textwrap.wrap(label, max(3, room), max_lines=style.lines, placeholder="…")
        if len(narrower) > len(lines) or narrower[-1].endswith("…"):
            break
        lines = narrower
    return lines


def _whole(size: float) -> float:
    """Round up to eighths of a pixel: their sums are exact, in any order and version of Python."""
    return math.ceil(size * 8) / 8


def _space(upper: Box, lower: Box) -> float:
    both_leaves = not (upper.children or lower.children)
    if upper.level == 1:
        return 6.0 if both_leaves else 14.0
    return 4.0 if both_leaves else 9.0


def _stacked(boxes: Sequence[Box]) -> float:
    """Return the height of what stands one below the other."""
    spaces = sum(_space(a, b) for a, b in pairwise(boxes))
    return sum(box.extent for box in boxes) + spaces
