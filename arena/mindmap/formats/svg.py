"""SVG: a picture without scripts, or fonts other than the viewer's own, for light and dark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape

from arena.mindmap._layout import BRANCH, INNER, LINE, ROOT, Box, lay_out
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
_CAPTION, _LEGEND = 15.0, 11.0
_COUNTS = "(n): papers filed under the heading itself"
_MARKS = "=1, =2, ... and equal colours: headings of both maps that mean the same"
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
