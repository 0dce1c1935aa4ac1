"""Where the boxes of a mind-map stand: a function from the tree to rectangles, nothing drawn."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from itertools import pairwise

from arena.mindmap._drawing.letters import shown, width
from arena.mindmap._drawing.styles import LINE, Style, style_of
from arena.mindmap._drawing.wrapping import wrap
from arena.mindmap.tree import MindMap

BADGE_SIZE = 10.0  # font size of the number of papers
_BADGE_GAP = 5.0
_DOT = 9.0  # a node without a label
# DejaVu Sans, which a viewer without our fonts takes, is up to 8 % wider on 95 % of real headings,
# and not every viewer heeds textLength.
_SLACK = 1.08
_TWO_SIDED_FROM = 16  # leaves


@dataclass(slots=True)
class Box:
    """A node and the rectangle that holds its label and badge; x and y are its top left corner."""

    node: MindMap
    parent: Box | None
    level: int
    style: Style
    lines: list[str]
    text_width: float
    badge: str
    badge_width: float
    width: float
    height: float
    children: list[Box]
    extent: float = 0.0  # height of all that is below, and at least its own
    branch: int = 0  # which part of the map it belongs to, from 1; 0 for what holds all parts
    left: bool = False  # grows to the left
    x: float = 0.0
    y: float = 0.0


@dataclass(frozen=True, slots=True)
class Layout:
    """All boxes in preorder, from (0, 0) to (width, height)."""

    boxes: list[Box]
    width: float
    height: float


def lay_out(tree: MindMap, two_sided: bool | None = None) -> Layout:
    """Place the nodes of a mind-map.

    The root's children stand to its right, or half of them (by height, in order) to its left.
    Every node has a band of its own height, in which all that is below it stands further out; bands
    of siblings do not meet, so that neither boxes nor links cross.

    Args:
        tree: The map.
        two_sided: Whether both sides are used; None for maps of 16 leaves and more.
    """
    boxes = _boxes(tree)
    for box in reversed(boxes):
        box.extent = max(box.height, _stacked(box.children))
    root = boxes[0]
    if two_sided is None:
        two_sided = leaves(tree) >= _TWO_SIDED_FROM
    split = _split(root.children) if two_sided and len(root.children) > 1 else len(root.children)
    sides = (root.children[:split], root.children[split:])
    for number, child in enumerate(root.children):
        child.left = number >= split
    _number_branches(root)
    middle = max(root.height, *map(_stacked, sides)) / 2
    root.y = middle - root.height / 2
    for side in sides:
        _place(root, side, middle)
    for box in boxes[1:]:
        for child in box.children:
            child.left = box.left
            child.branch = child.branch or box.branch
        _place(box, box.children, box.y + box.height / 2)
    return _at_origin(boxes)


def _number_branches(root: Box) -> None:
    """Number the parts that get a colour each: what is below the first node that forks."""
    fork = root
    while len(fork.children) == 1:
        fork = fork.children[0]
    for number, child in enumerate((fork if fork.children else root).children, 1):
        child.branch = number


def leaves(tree: MindMap) -> int:
    """Return the number of nodes without children."""
    return sum(not node.children for node in tree.nodes())


def _gap(children: list[Box]) -> float:
    """Return the room for the links to the children; a wide fan needs more, lest it be steep."""
    return _whole(min(30 + _stacked(children) / 14, 110))


def _boxes(tree: MindMap) -> list[Box]:
    boxes: list[Box] = []
    waiting: list[tuple[MindMap, Box | None]] = [(tree, None)]
    while waiting:
        node, parent = waiting.pop()
        box = _measured(node, parent)
        boxes.append(box)
        if parent is not None:
            parent.children.append(box)
        waiting.extend((child, box) for child in reversed(node.children))
    return boxes


def _measured(node: MindMap, parent: Box | None) -> Box:
    level = 0 if parent is None else parent.level + 1
    style = style_of(level, not node.children)
    measure = functools.partial(width, size=style.size, bold=style.bold)
    label = shown(node.label)
    lines = wrap(label, measure, style.room, style.lines) if label else []
    text_width = max((measure(line) * _SLACK for line in lines), default=_DOT)
    badge = f"{len(node.papers):,}" if node.papers else ""
    badge_width = max(width(badge, BADGE_SIZE) + 8, 15.0) if badge else 0.0
    across = text_width + (badge_width + _BADGE_GAP if badge else 0) + 2 * style.across
    along = max(len(lines) * style.size * LINE, _DOT, 15.0 if badge else 0.0) + 2 * style.along
    sizes = map(_whole, (text_width, badge_width, across, along))
    text_width, badge_width, across, along = sizes
    return Box(
        node, parent, level, style, lines, text_width, badge, badge_width, across, along, []
    )  # fmt: skip


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
    heights = [0.0]
    for upper, lower in zip(children, [*children[1:], children[-1]], strict=True):
        heights.append(heights[-1] + upper.extent + _space(upper, lower))
    return min(range(1, len(children)), key=lambda n: (abs(2 * heights[n] - heights[-1]), -n))


def _place(parent: Box, children: list[Box], middle: float) -> None:
    top = middle - _stacked(children) / 2
    away = _gap(children)
    for number, child in enumerate(children):
        if number:
            top += _space(children[number - 1], child)
        if child.left:
            child.x = parent.x - away - child.width
        else:
            child.x = parent.x + parent.width + away
        child.y = top + (child.extent - child.height) / 2
        top += child.extent


def _at_origin(boxes: list[Box]) -> Layout:
    left, top = min(box.x for box in boxes), min(box.y for box in boxes)
    for box in boxes:
        box.x -= left
        box.y -= top
    right = max(box.x + box.width for box in boxes)
    return Layout(boxes, right, max(box.y + box.height for box in boxes))
