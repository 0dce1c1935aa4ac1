"""The layout of a mind-map: a function from the tree to rectangles; nothing is drawn."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

from arena.mindmap.tree import MindMap
from arena.text.display import shown, width

LINE = 1.28  # height of a line, in font sizes
BADGE_SIZE = 10.0  # font size of the number of papers
_BADGE_GAP = 5.0
_DOT = 9.0  # a node without a label
# DejaVu Sans, which a viewer without our fonts takes, is up to 8 % wider on 95 % of real headings,
# and not every viewer heeds textLength.
_SLACK = 1.08
_TWO_SIDED_FROM = 16  # leaves


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
    """A node and the rectangle that holds its label and badge; x and y are its top left corner."""

    node: MindMap
    level: int
    style: Style
    lines: list[str]
    text_width: float
    badge: str
    badge_width: float
    width: float
    height: float
    mark: int = 0  # number of the heading of another map that it matches, from 1
    children: list[Box] = field(default_factory=list)
    extent: float = 0.0  # height of all that is below, and at least its own
    branch: int = 0  # which part of the map it belongs to, from 1; 0 for what holds all parts
    left: bool = False  # grows to the left
    x: float = 0.0
    y: float = 0.0


class Layout(NamedTuple):
    """All boxes in preorder, from (0, 0) to (width, height)."""

    boxes: list[Box]
    width: float
    height: float


def lay_out(
    tree: MindMap, two_sided: bool | None = None, marks: Mapping[str, int] | None = None
) -> Layout:
    """Place the nodes of a mind-map.

    The root's children stand to its right, or half of them (by height, in order) to its left.
    Every node has a band of its own height, in which all that is below it stands further out; bands
    of siblings do not meet, so that neither boxes nor links cross.

    Args:
        tree: The map.
        two_sided: Whether both sides are used; None for maps of 16 leaves and more.
        marks: Label -> number of the heading of another map that it matches.
    """
    root = _box(tree, 0, {})
    boxes, waiting = [], [root]
    while waiting:
        box = waiting.pop()
        boxes.append(box)
        box.children = [_box(child, box.level + 1, marks or {}) for child in box.node.children]
        waiting.extend(reversed(box.children))
    for box in reversed(boxes):
        box.extent = max(box.height, _stacked(box.children))
    if two_sided is None:
        two_sided = leaves(tree) >= _TWO_SIDED_FROM
    split = _split(root.children) if two_sided and len(root.children) > 1 else len(root.children)
    sides = (root.children[:split], root.children[split:])
    for child in sides[1]:
        child.left = True
    fork = root
    while len(fork.children) == 1:
        fork = fork.children[0]
    for number, child in enumerate((fork if fork.children else root).children, 1):
        child.branch = number
    middle = max(root.height, *map(_stacked, sides)) / 2
    root.y = middle - root.height / 2
    for side in sides:
        _place(root, side, middle)
    for box in boxes[1:]:
        for child in box.children:
            child.left = box.left
            child.branch = child.branch or box.branch
        _place(box, box.children, box.y + box.height / 2)
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    for box in boxes:
        box.x -= left
        box.y -= top
    right = max(box.x + box.width for box in boxes)
    return Layout(boxes, right, max(box.y + box.height for box in boxes))


def leaves(tree: MindMap) -> int:
    """Return the number of nodes without children."""
    return sum(not node.children for node in tree.nodes())


def _box(node: MindMap, level: int, marks: Mapping[str, int]) -> Box:
    style = (ROOT, BRANCH)[level] if level < 2 else INNER if node.children else LEAF
    mark = marks.get(node.label, 0)
    label = (f"={mark} " if mark else "") + shown(node.label)
    lines = wrap(label, style)
    text_width = max((width(line, style.size, style.bold) * _SLACK for line in lines), default=_DOT)
    badge = f"{len(node.papers):,}" if node.papers else ""
    badge_width = max(width(badge, BADGE_SIZE) + 8, 15.0) if badge else 0.0
    across = text_width + (badge_width + _BADGE_GAP if badge else 0) + 2 * style.across
    along = max(len(lines) * style.size * LINE, _DOT, 15.0 if badge else 0.0) + 2 * style.along
    return Box(
        node, level, style, lines, _whole(text_width), badge, _whole(badge_width), _whole(across),
        _whole(along), mark,
    )  # fmt: skip


def wrap(label: str, style: Style) -> list[str]:
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


def _stacked(boxes: list[Box]) -> float:
    """Return the height of what stands one below the other."""
    spaces = sum(_space(a, b) for a, b in pairwise(boxes))
    return sum(box.extent for box in boxes) + spaces


def _split(children: list[Box]) -> int:
    """Return how many children stand to the right: the sides shall be about equally high."""
    heights = [_stacked(children[:number]) for number in range(len(children) + 1)]
    return min(range(1, len(children)), key=lambda n: (abs(2 * heights[n] - heights[-1]), -n))


def _place(parent: Box, children: list[Box], middle: float) -> None:
    top = middle - _stacked(children) / 2
    # The room for the links; a wide fan needs more, lest it be steep.
    away = _whole(min(30 + _stacked(children) / 14, 110))
    for number, child in enumerate(children):
        if number:
            top += _space(children[number - 1], child)
        outer = -away - child.width if child.left else parent.width + away
        child.x, child.y = parent.x + outer, top + (child.extent - child.height) / 2
        top += child.extent
