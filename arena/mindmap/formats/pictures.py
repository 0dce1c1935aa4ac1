"""Pictures of mind-maps: SVG without scripts or fonts of its own, and the same picture as PNG."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from arena.errors import DataError
from arena.mindmap.formats import FORMATS, Format
from arena.mindmap.tree import MindMap
from arena.text.display import FAMILY, in_font, shown, width

INK, PAPER, GREY = "#1b2430", "white", "#5b6675"
_DARK = {PAPER: "#14181f", INK: "#e8ecf2", GREY: "#a3afbe"}

BRANCHES = {
    "#0072b2": "#ffffff",
    "#e69f00": "#000000",
    "#009e73": "#000000",
    "#cc79a7": "#000000",
    "#56b4e9": "#000000",
    "#d55e00": "#000000",
}
"""Colours of the branches, and the colour of text on each.

The palette of Okabe and Ito (2008), which any kind of colour blindness leaves distinct; without its
yellow, a line of which does not show on white.
"""

MARGIN = 24.0
_BETWEEN = 56.0  # maps that stand side by side
_CAPTION, _LEGEND = 15.0, 11.0
_COUNTS = "(n): papers filed under the heading itself"
_MARKS = "=1, =2, ... and equal colours: headings of both maps that mean the same"
_LINKS = (3.0, 2.2, 1.6, 1.3)  # widths by the level they start from


def svg(tree: MindMap) -> str:
    """A picture; hold the pointer over a label for the whole of it."""
    return draw([tree])


def png(tree: MindMap) -> bytes:
    """The picture of svg in pixels; needs the extra 'pictures'."""
    return draw_pixels([tree])


def draw(
    maps: Sequence[MindMap],
    captions: Sequence[str] = (),
    marks: Sequence[Mapping[str, int]] | None = None,
) -> str:
    """Return a picture of mind-maps, side by side, as an SVG document.

    Args:
        maps: Maps, at least one.
        captions: Texts above the maps, one for each; empty for none.
        marks: For each map: label -> number of its match in the other maps. With it, matches have
            equal colours and the rest is grey; without it, each branch has a colour.
    """
    numbers = marks or [{} for _ in maps]
    layouts = [lay_out(tree, of) for tree, of in zip(maps, numbers, strict=True)]
    boxes = [box for layout in layouts for box in layout]
    top = MARGIN + (_CAPTION * 2.2 if captions else 0.0)
    bottom = top + max(box.y + box.height for box in boxes)
    body, left, total = [], MARGIN, 0.0
    for number, layout in enumerate(layouts):
        room = max(box.x + box.width for box in layout)
        if captions:
            caption = shown(captions[number])
            room = max(room, width(caption, _CAPTION, True))
            body.append(_text(caption, left, MARGIN + _CAPTION, _CAPTION, "start", INK, True))
        if number:
            line = f"M{_n(left - _BETWEEN / 2)} {_n(MARGIN)}V{_n(bottom)}"
            body.append(f'<path d="{line}" stroke="{GREY}" stroke-opacity="0.35"/>')
        body.append(f'<g transform="translate({_n(left)} {_n(top)})">')
        for box in layout:  # the links first, so that they end under the boxes
            body.extend(_links(box, marks is not None))
        for box in layout:
            body.extend(_box(box, _colour(box, marks is not None)))
        body.append("</g>")
        total = max(total, left + room + MARGIN)
        left += room + _BETWEEN
    legends = ((_COUNTS, any(b.node.papers for b in boxes)), (_MARKS, any(b.mark for b in boxes)))
    for legend, is_needed in legends:
        if is_needed:
            bottom += 24
            body.append(_text(legend, MARGIN, bottom - 2, _LEGEND, "start", GREY))
            total = max(total, 2 * MARGIN + width(legend, _LEGEND))
    return "\n".join([*_head(maps, captions, total, bottom + MARGIN), *body, "</svg>"]) + "\n"


def _head(
    maps: Sequence[MindMap], captions: Sequence[str], total: float, height: float
) -> Iterator[str]:
    names = [shown(tree.label) or "without a title" for tree in maps]
    if captions:
        names = [f"{shown(c)}: {name}" for c, name in zip(captions, names, strict=True)]
    counts = ", ".join(f"{t.size:,} headings, {len(t.all_papers()):,} papers" for t in maps)
    size = f'width="{_n(total)}" height="{_n(height)}" viewBox="0 0 {_n(total)} {_n(height)}"'
    dark = "".join(
        f"[{what}='{light}']{{{what}:{colour}}}"
        for light, colour in _DARK.items()
        for what in ("fill", "stroke")
    )
    yield f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family="{FAMILY}">'
    yield f"<title>Mind-map: {_x(' | '.join(names))}</title>"
    yield f"<desc>{counts}</desc>"
    yield f"<style>@media (prefers-color-scheme: dark){{{dark}}}</style>"
    yield f'<rect width="{_n(total)}" height="{_n(height)}" fill="{PAPER}"/>'


def _colour(box: Box, by_match: bool) -> str:
    number = box.mark if by_match else box.branch
    if number:
        return list(BRANCHES)[(number - 1) % len(BRANCHES)]
    return GREY if box.level else INK


def _links(box: Box, by_match: bool) -> Iterator[str]:
    thick = _LINKS[min(box.level, len(_LINKS) - 1)]
    thick = max(min(thick, round(60 / max(1, len(box.children)), 1)), 0.6)  # no bundle, but a fan
    curves: dict[str, list[str]] = {}
    start, middle = box.x + box.width, _n(box.y + box.height / 2)
    for child in box.children:
        bend, end = _n((start + child.x) / 2), _n(child.y + child.height / 2)
        path = f"M{_n(start)} {middle}C{bend} {middle} {bend} {end} {_n(child.x)} {end}"
        curves.setdefault(_colour(child, by_match), []).append(path)
    for colour, paths in curves.items():
        yield f'<path d="{"".join(paths)}" fill="none" stroke="{colour}" stroke-width="{thick}"/>'


def _box(box: Box, colour: str) -> Iterator[str]:
    style, count = box.style, len(box.node.papers)
    papers = f"{count:,} paper{'s' if count != 1 else ''}" if count else ""
    title = " - ".join(part for part in (shown(box.node.label), papers) if part)
    yield f"<g><title>{_x(title)}</title>" if title else "<g>"
    ink, radius, look = INK, 0.0, ""
    if style is ROOT:
        ink, radius, look = PAPER, min(box.height / 2, 22), f'fill="{INK}"'
    elif style is BRANCH:
        ink, radius, look = BRANCHES.get(colour, PAPER), 9, f'fill="{colour}"'
    elif style is INNER:
        radius, look = 6, f'fill="{colour}" fill-opacity="0.16" stroke="{colour}"'
    if look:
        size = f'width="{_n(box.width)}" height="{_n(box.height)}"'
        yield f'<rect x="{_n(box.x)}" y="{_n(box.y)}" {size} rx="{_n(radius)}" {look}/>'
    anchor, x = ("middle", box.x + box.width / 2) if look else ("start", box.x + style.across)
    middle = box.y + box.height / 2
    if not box.lines:
        yield f'<circle cx="{_n(box.x + box.width / 2)}" cy="{_n(middle)}" r="3" fill="{ink}"/>'
    for number, line in enumerate(box.lines):
        y = middle + (number - (len(box.lines) - 1) / 2) * style.size * LINE + style.size * 0.36
        yield _text(line, x, y, style.size, anchor, ink, style.bold)
    yield "</g>"


def _text(
    text: str, x: float, y: float, size: float, anchor: str, colour: str, bold: bool = False
) -> str:  # fmt: skip
    # Another font may be wider: textLength makes the viewer fit it into what was measured here.
    fitted = f'textLength="{_n(width(text, size, bold))}" lengthAdjust="spacingAndGlyphs"'
    heavy = ' font-weight="600"' if bold else ""
    return (
        f'<text x="{_n(x)}" y="{_n(y)}" font-size="{size:g}"{heavy} fill="{colour}" '
        f'text-anchor="{anchor}" {fitted}>{_x(text)}</text>'
    )


def _n(number: float) -> str:
    """Return a coordinate to a tenth of a pixel."""
    return re.sub(r"\.0$", "", f"{number:.1f}")


def _x(text: str) -> str:
    return escape(text, quote=False)


# The layout: from the tree to rectangles; nothing is drawn.

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
    root = fork = _sized(tree, 0, {})
    boxes, waiting = [], [root]
    while waiting:
        box = waiting.pop()
        boxes.append(box)
        box.children = [_sized(child, box.level + 1, marks) for child in box.node.children]
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


def _sized(node: MindMap, level: int, marks: Mapping[str, int]) -> Box:
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


# PNG

SCALE = 2
"""Pixels of the PNG to a pixel of the SVG, for sharp letters on any screen."""

MAX_PIXELS = 100_000_000
"""About 400 MB while it is drawn."""


def draw_pixels(
    maps: Sequence[MindMap],
    captions: Sequence[str] = (),
    marks: Sequence[Mapping[str, int]] | None = None,
) -> bytes:
    """Return the picture of `draw` as PNG, in light colours.

    Letters come from Noto Sans out of a package, so that all machines give the same bytes. Only a
    label with letters that it lacks (Chinese, Arabic) is looked for in the fonts of the machine.

    Raises:
        DataError: The picture is too large, or a package of the extra is absent.
    """
    picture = re.sub("<style>.*?</style>", "", draw(maps, captions, marks))
    size = re.search(r'width="([\d.]+)" height="([\d.]+)"', picture)
    assert size is not None
    across, down = float(size[1]), float(size[2])
    scale = next((s for s in (SCALE, 1) if across * s * down * s <= MAX_PIXELS), None)
    if scale is None:
        raise DataError(
            f"the picture has {across:,.0f} x {down:,.0f} pixels, more than "
            f"{MAX_PIXELS:,} in all: write it as svg, or cut the mind-map with --depth."
        )
    try:
        resvg_py, font = map(import_module, ("resvg_py", "fontpkg_noto_sans"))
    except ImportError as error:
        raise DataError(
            f"PNG needs the package {str(error.name).replace('_', '-')!r}, which is not installed: "
            "pip install 'researcharena[pictures]', or write svg."
        ) from None
    drawn: bytes = resvg_py.svg_to_bytes(
        svg_string=picture,
        zoom=scale,
        skip_system_fonts=all(map(in_font, set(picture))),
        font_files=[str(Path(font.ROOT, "files", "NotoSans[wdth,wght].ttf"))],
        font_family=font.FAMILY,
        sans_serif_family=font.FAMILY,
    )
    return drawn


FORMATS.register("svg")(Format(svg, (".svg",), draw))
FORMATS.register("png")(Format(png, (".png",), draw_pixels))
