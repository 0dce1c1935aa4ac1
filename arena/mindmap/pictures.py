"""Pictures of mind-maps: SVG without scripts and without fonts of its own."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape

import numpy as np

from arena.encoders import Encoder
from arena.mindmap.tree import MindMap
from arena.text.display import count, is_mark, is_wide, shown

INK, PAPER, GREY = "#1b2430", "white", "#5b6675"
BRANCHES = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""Colours of the branches: Okabe and Ito (2008), without the yellow that white hides."""

_SIZE, _LINE = 13, 17  # pixels: the font, and a line of text
_CHARACTERS, _LINES = 38, 3  # of a label at most; an ellipsis ends a longer one
_ACROSS, _ALONG, _GAP = 8, 4, 5  # pixels: from a text to its box, and from box to box
_MARGIN, _BETWEEN = 24, 56
_DARK = f'fill="{INK}"'
_COUNTS = "(n): papers filed under the heading itself"
_MARKS = "=1, =2, ... and equal colours: headings of both maps that mean the same"


@dataclass(slots=True)
class Box:
    """A node and the rectangle around its label, in pixels; x and y are its top left corner."""

    node: MindMap
    level: int
    mark: int  # number of the heading of another map that it matches, from 1; 0 for none
    branch: int = 0  # from 1; 0 for what is above all branches
    lines: list[str] = field(default_factory=list)
    width: int = 0
    height: int = 0
    extent: int = 0  # height of the band in which everything below the node lies
    children: list[Box] = field(default_factory=list)
    x: float = 0
    y: float = 0

    def __post_init__(self) -> None:
        count = len(self.node.papers)
        label = f"={self.mark} " if self.mark else ""
        label += shown(self.node.label) + (f" ({count:,})" if count else "")
        self.lines = textwrap.wrap(label, _CHARACTERS, max_lines=_LINES, placeholder="…")
        self.width = max(map(_width, self.lines), default=0) + 2 * _ACROSS
        self.height = max(1, len(self.lines)) * _LINE + 2 * _ALONG


def draw(
    maps: Sequence[MindMap], captions: Sequence[str] = (), marks: Sequence[Mapping[str, int]] = ()
) -> str:
    """Return a picture of mind-maps, side by side, each below its caption, as an SVG document.

    With `marks`, for each map label -> number of its match in the other maps, matches have equal
    colours and the rest is grey; without them each branch has a colour.
    """
    layouts = [lay_out(tree, of) for tree, of in zip(maps, marks or [{}] * len(maps), strict=True)]
    boxes = [box for layout in layouts for box in layout]
    legends = [_COUNTS] if any(box.node.papers for box in boxes) else []
    legends += [_MARKS] if any(box.mark for box in boxes) else []
    top = _MARGIN + (2 * _LINE if captions else 0)
    bottom = top + max(layout[0].extent for layout in layouts)
    body, left, total = [], _MARGIN, max(map(_width, legends), default=0)
    for number, layout in enumerate(layouts):
        room = max(box.x + box.width for box in layout)
        if captions:
            body.append(_text(shown(captions[number]), left, _MARGIN + _SIZE, INK))
            room = max(room, _width(shown(captions[number])))
        if number:
            line = f"M{left - _BETWEEN / 2:g} {_MARGIN}V{bottom}"
            body.append(f'<path d="{line}" stroke="{GREY}" stroke-opacity="0.35"/>')
        body.append(f'<g transform="translate({left} {top})">')
        body += [part for box in layout for part in _links(box, bool(marks))]  # below the boxes
        body += [part for box in layout for part in _box(box, bool(marks))]
        body.append("</g>")
        total = max(total, left + math.ceil(room) - _MARGIN)
        left += math.ceil(room) + _BETWEEN
    for legend in legends:
        bottom += 24
        body.append(_text(legend, _MARGIN, bottom, GREY))
    size = f'width="{total + 2 * _MARGIN}" height="{bottom + _MARGIN}"'
    names = " | ".join(shown(tree.label) for tree in maps)
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" '
        'font-family="Noto Sans, Segoe UI, Helvetica Neue, Arial, DejaVu Sans, sans-serif" '
        f'font-size="{_SIZE}">\n<title>Mind-map: {escape(names, quote=False)}</title>\n'
        f'<rect {size} fill="{PAPER}"/>'
    )
    return "\n".join([head, *body, "</svg>"]) + "\n"


def beside(
    left: MindMap,
    right: MindMap,
    captions: tuple[str, str] = ("", ""),
    encoder: str | Encoder | None = "static",
) -> str:
    """Return two mind-maps side by side as SVG, each under its caption, their `matches` marked."""
    return draw((left, right), captions, matches(left, right, encoder))


def matches(
    left: MindMap, right: MindMap, encoder: str | Encoder | None = "static"
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the headings that two maps share: for each map, label -> number from 1.

    Labels match if they are equal without regard to case; of the others each is matched with the
    first free one whose cosine exceeds 0.8, as in `tree_semantic_distance`; without an encoder
    words alone count. Roots do not match. Numbers are in the order of the left map's headings.
    """
    from arena.mindmap.metrics.tree_distance import alike

    rows, columns = left.labels(), right.labels()
    words = [[label.casefold() == other.casefold() for other in columns] for label in rows]
    pairs: dict[str, str] = {}
    for table in (words, alike(left, right, encoder)):
        for row, column in np.argwhere(table):
            label, other = rows[row], columns[column]
            if label.strip() and label not in pairs and other not in pairs.values():
                pairs[label] = other
    matched = list(enumerate((label for label in rows if label in pairs), 1))
    return {x: n for n, x in matched}, {pairs[x]: n for n, x in matched}


def lay_out(tree: MindMap, marks: Mapping[str, int]) -> list[Box]:
    """Return the nodes of a mind-map as boxes in preorder, from (0, 0) to the right and down.

    Children stand to the right of their parent. The bands of siblings do not meet, so neither boxes
    nor links cross.
    """
    root = fork = Box(tree, 0, 0)
    boxes, waiting = [], [root]
    while waiting:
        box = waiting.pop()
        boxes.append(box)
        box.children = [
            Box(child, box.level + 1, marks.get(child.label, 0)) for child in box.node.children
        ]
        waiting.extend(reversed(box.children))
    for box in reversed(boxes):
        box.extent = max(box.height, _stacked(box))
    while len(fork.children) == 1 and fork.children[0].children:
        fork = fork.children[0]
    for number, child in enumerate(fork.children, 1):
        child.branch = number
    root.y = (root.extent - root.height) / 2
    for box in boxes:
        below = _stacked(box)
        top = box.y + (box.height - below) / 2
        for child in box.children:
            child.branch = child.branch or box.branch
            child.x = box.x + box.width + 40 + min(below // 14, 80)  # a wide fan is not steep
            child.y = top + (child.extent - child.height) / 2
            top += child.extent + _GAP
    return boxes


def _stacked(box: Box) -> int:
    return sum(child.extent + _GAP for child in box.children) - (_GAP if box.children else 0)


def _width(text: str) -> int:
    """Return the pixels that a line gets; `textLength` makes every viewer fit it into them."""
    return math.ceil(_SIZE * sum(map(_ems, text)))


def _ems(character: str) -> float:
    if is_mark(character):
        return 0.0
    if is_wide(character):
        return 1.0
    if character in "mwMW@%—…":
        return 0.92
    return 0.3 if character in " .,:;'|!()[]iIjl/-" else 0.69 if character.isupper() else 0.57


def _colour(box: Box, by_match: bool) -> str:
    number = box.mark if by_match else box.branch
    return BRANCHES[(number - 1) % len(BRANCHES)] if number else GREY


def _links(box: Box, by_match: bool) -> Iterator[str]:
    start, middle = box.x + box.width, box.y + box.height / 2
    for child in box.children:
        bend, end = (start + child.x) / 2, child.y + child.height / 2
        path = f"M{start:g} {middle:g}C{bend:g} {middle:g} {bend:g} {end:g} {child.x:g} {end:g}"
        yield f'<path d="{path}" fill="none" stroke="{_colour(child, by_match)}"/>'


def _box(box: Box, by_match: bool) -> Iterator[str]:
    filed, colour = box.node.papers, _colour(box, by_match)
    papers = count(len(filed), "paper") if filed else ""
    title = " - ".join(part for part in (shown(box.node.label), papers) if part)
    look = f'fill="{colour}" fill-opacity="0.16" stroke="{colour}"'
    yield (
        f"<g><title>{escape(title, quote=False)}</title>"
        f'<rect x="{box.x:g}" y="{box.y:g}" width="{box.width}" height="{box.height}" '
        f'rx="6" {look if box.level else _DARK}/>'
    )
    for number, line in enumerate(box.lines):
        y = box.y + _ALONG + number * _LINE + _SIZE
        yield _text(line, box.x + _ACROSS, y, INK if box.level else PAPER)
    yield "</g>"


def _text(text: str, x: float, y: float, colour: str) -> str:
    return (
        f'<text x="{x:g}" y="{y:g}" fill="{colour}" textLength="{_width(text)}" '
        f'lengthAdjust="spacingAndGlyphs">{escape(text, quote=False)}</text>'
    )
