"""The layout of a mind-map: a function from the tree to rectangles; nothing is drawn."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from arena.mindmap.tree import MindMap
from arena.text.display import is_mark, is_wide, shown, width

LINE = 1.28  # height of a line, in font sizes
_ELLIPSIS = "…"
_Measure = Callable[[str], float]

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
        room: Width of the widest line.
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


def style_of(level: int, is_leaf: bool) -> Style:
    """Return the style of a node `level` steps below the root."""
    if level < 2:
        return (ROOT, BRANCH)[level]
    return LEAF if is_leaf else INNER


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


# Labels broken into few lines of about the same width


def wrap(label: str, measure: _Measure, room: float, most: int) -> list[str]:
    """Return a label as at most `most` lines, none wider than `room`.

    Lines break at spaces, between wide characters, and inside a word only if it has no room on a
    line of its own. What is too long ends in an ellipsis.

    Args:
        label: Without line breaks.
        measure: Function that returns the width of a text.
        room: Width of a line; no letter with an ellipsis is wider.
        most: Greatest number of lines, at least 1.
    """
    if measure(label) <= room:
        return [label]
    units = list(_units(label, measure, room))
    lines = _filled(units, measure, room)
    if len(lines) > most:
        return [*lines[: most - 1], _cut(lines[most - 1], measure, room)]
    low, high = room / len(lines), room
    for _ in range(8):  # the narrowest room for as many lines, to 1/256
        middle = (low + high) / 2
        fits = len(_filled(units, measure, middle)) == len(lines)
        low, high = (low, middle) if fits else (middle, high)
    even = _filled(units, measure, high)
    # A word may be wider than the narrower room; then the lines stay as they were.
    return even if len(even) == len(lines) and max(map(measure, even)) <= room else lines


def _filled(units: list[tuple[str, str]], measure: _Measure, room: float) -> list[str]:
    lines: list[str] = []
    for space, unit in units:
        longer = f"{lines[-1]}{space}{unit}" if lines else unit
        if lines and measure(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(unit)
    return lines


def _units(label: str, measure: _Measure, room: float) -> Iterator[tuple[str, str]]:
    """Yield what is not broken, with the space in front of it."""
    for word in label.split():
        space = " "
        for piece in _pieces(word):
            if measure(piece) <= room:
                yield space, piece
                space = ""
                continue
            for part in _broken(piece, measure, room):
                yield space, part
                space = ""


def _pieces(word: str) -> Iterator[str]:
    """Yield a word in pieces that end at a wide character, a hyphen or a slash."""
    piece = ""
    for character in word:
        if piece and not is_mark(character) and (is_wide(character) or is_wide(piece[-1])):
            yield piece
            piece = ""
        piece += character
        if character in "-/" and len(piece) > 3:
            yield piece
            piece = ""
    if piece:
        yield piece


def _broken(word: str, measure: _Measure, room: float) -> Iterator[str]:
    part = ""
    for character in word:
        if part and not is_mark(character) and measure(part + character) > room:
            yield part
            part = ""
        part += character
    yield part


def _cut(line: str, measure: _Measure, room: float) -> str:
    while line and (measure(line + _ELLIPSIS) > room or is_mark(line[-1])):
        line = line[:-1]
    return line.rstrip(" ,;:-–/(") + _ELLIPSIS
