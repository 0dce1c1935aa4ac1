"""SVG: a picture without scripts, or fonts other than the viewer's own, for light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from arena.mindmap._layout import (
    BADGE_SIZE,
    BRANCH,
    INNER,
    LINE,
    ROOT,
    Box,
    Layout,
    lay_out,
    leaves,
)
from arena.mindmap.formats import FORMATS, Format
from arena.mindmap.tree import MindMap
from arena.text.display import FAMILY, shown, width

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
_TWO_SIDED_FROM = 80  # leaves of one of them
_CAPTION = 15.0
_LEGEND = 11.0
_BADGE_MEANING = "papers filed under the heading itself"
_MARK_MEANING = "=1, =2, ... and equal colours: headings of both maps that mean the same"
_LINKS = (3.0, 2.2, 1.6, 1.3)  # widths by the level they start from


def svg(tree: MindMap) -> str:
    """A picture; hold the pointer over a label for the whole of it."""
    return draw([tree])


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
    two_sided = None if len(maps) == 1 else max(map(leaves, maps)) >= _TWO_SIDED_FROM
    numbers = marks or [{} for _ in maps]
    layouts = [lay_out(tree, two_sided, of) for tree, of in zip(maps, numbers, strict=True)]
    top = MARGIN + (_CAPTION * 2.2 if captions else 0.0)
    bottom = top + max(layout.height for layout in layouts)
    body, left, total = [], MARGIN, 0.0
    for number, layout in enumerate(layouts):
        room = layout.width
        if captions:
            caption = shown(captions[number])
            room = max(room, width(caption, _CAPTION, True))
            body.append(_text(caption, left, MARGIN + _CAPTION, _CAPTION, "start", INK, True))
        if number:
            line = f"M{_n(left - _BETWEEN / 2)} {_n(MARGIN)}V{_n(bottom)}"
            body.append(f'<path d="{line}" stroke="{GREY}" stroke-opacity="0.35"/>')
        body.append(f'<g transform="translate({_n(left)} {_n(top)})">')
        body.extend(_map(layout, marks is not None))
        body.append("</g>")
        total = left + room + MARGIN
        left += room + _BETWEEN
    if any(box.badge for layout in layouts for box in layout.boxes):
        bottom += 30
        body.extend(_badge(MARGIN, bottom - 12, 15, "n", GREY))
        body.append(_text(_BADGE_MEANING, MARGIN + 21, bottom - 8, _LEGEND, "start", GREY))
        total = max(total, 2 * MARGIN + 21 + width(_BADGE_MEANING, _LEGEND))
    if any(box.mark for layout in layouts for box in layout.boxes):
        bottom += 24
        body.append(_text(_MARK_MEANING, MARGIN, bottom - 8, _LEGEND, "start", GREY))
        total = max(total, 2 * MARGIN + width(_MARK_MEANING, _LEGEND))
    return "\n".join([*_head(maps, captions, total, bottom + MARGIN), *body, "</svg>"]) + "\n"


FORMATS.register("svg")(Format(svg, (".svg",), draw))


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


def _map(layout: Layout, by_match: bool) -> Iterator[str]:
    """Yield the links first, so that they end under the boxes."""
    for box in layout.boxes:
        if box.children:
            yield from _links(box, by_match)
    for box in layout.boxes:
        yield from _box(box, _colour(box, by_match))


def _colour(box: Box, by_match: bool) -> str:
    number = box.mark if by_match else box.branch
    if number:
        return list(BRANCHES)[(number - 1) % len(BRANCHES)]
    return GREY if box.level else INK


def _links(box: Box, by_match: bool) -> Iterator[str]:
    thick = _LINKS[min(box.level, len(_LINKS) - 1)]
    thick = max(min(thick, round(60 / len(box.children), 1)), 0.6)  # a fan of many, not a bundle
    curves: dict[str, list[str]] = {}
    for child in box.children:
        start_x = box.x if child.left else box.x + box.width
        end_x = child.x + child.width if child.left else child.x
        start_y, end_y = box.y + box.height / 2, child.y + child.height / 2
        bend = (end_x - start_x) / 2
        curve = f"C{_n(start_x + bend)} {_n(start_y)} {_n(end_x - bend)} {_n(end_y)} "
        path = f"M{_n(start_x)} {_n(start_y)}{curve}{_n(end_x)} {_n(end_y)}"
        curves.setdefault(_colour(child, by_match), []).append(path)
    for colour, paths in curves.items():
        yield f'<path d="{"".join(paths)}" fill="none" stroke="{colour}" stroke-width="{thick}"/>'


def _box(box: Box, colour: str) -> Iterator[str]:
    style, count = box.style, len(box.node.papers)
    papers = f"{count:,} paper{'s' if count != 1 else ''}" if count else ""
    title = " - ".join(part for part in (shown(box.node.label), papers) if part)
    yield f"<g><title>{_x(title)}</title>" if title else "<g>"
    ink = INK
    if style is ROOT:
        ink = PAPER
        yield _rectangle(box, min(box.height / 2, 22), f'fill="{INK}"')
    elif style is BRANCH:
        ink = BRANCHES.get(colour, PAPER)
        yield _rectangle(box, 9, f'fill="{colour}"')
    elif style is INNER:
        yield _rectangle(box, 6, f'fill="{colour}" fill-opacity="0.16" stroke="{colour}"')
    # The badge stands on the outer side, the label where the link arrives.
    inner, end = box.x + style.across, box.x + box.width - style.across
    left = end - box.text_width if box.left else inner
    if not box.lines:
        x, y = _n(left + box.text_width / 2), _n(box.y + box.height / 2)
        yield f'<circle cx="{x}" cy="{y}" r="3" fill="{ink}"/>'
    anchor, x_text = "middle", left + box.text_width / 2
    if box.level > 1 and not box.children:
        anchor, x_text = ("end", left + box.text_width) if box.left else ("start", left)
    height = style.size * LINE
    first = box.y + (box.height - height * len(box.lines)) / 2 + height / 2 + style.size * 0.36
    for number, line in enumerate(box.lines):
        yield _text(line, x_text, first + number * height, style.size, anchor, ink, style.bold)
    if box.badge:
        x_badge = inner if box.left else end - box.badge_width
        yield from _badge(x_badge, box.y + box.height / 2, box.badge_width, box.badge, colour)
    yield "</g>"


def _badge(x: float, middle: float, across: float, number: str, colour: str) -> Iterator[str]:
    yield (
        f'<rect x="{_n(x)}" y="{_n(middle - 7.5)}" width="{_n(across)}" height="15" rx="7.5" '
        f'fill="{PAPER}" stroke="{colour}"/>'
    )
    yield _text(number, x + across / 2, middle + 3.6, BADGE_SIZE, "middle", INK)


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


def _rectangle(box: Box, radius: float, look: str) -> str:
    return (
        f'<rect x="{_n(box.x)}" y="{_n(box.y)}" width="{_n(box.width)}" '
        f'height="{_n(box.height)}" rx="{_n(radius)}" {look}/>'
    )


def _n(number: float) -> str:
    """Return a coordinate to a tenth of a pixel."""
    return re.sub(r"\.0$", "", f"{number:.1f}")


def _x(text: str) -> str:
    return escape(text, quote=False)
