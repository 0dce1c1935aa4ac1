"""Pictures of mind-maps read back: what stands where in an SVG, without the code that drew it."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from itertools import pairwise
from typing import NamedTuple

SVG = "{http://www.w3.org/2000/svg}"
SIZE = 13  # of the font


class Area(NamedTuple):
    """A rectangle, and the text in it if it is one."""

    left: float
    top: float
    right: float
    bottom: float
    text: str = ""


class Picture(NamedTuple):
    """An SVG: its size, its texts, its boxes, points on its links, and the titles of its nodes."""

    width: float
    height: float
    texts: list[Area]
    boxes: list[Area]
    links: list[tuple[float, float]]
    titles: list[str]


def read_picture(svg: str) -> Picture:
    """Read an SVG, with the widths that it makes every viewer give its texts."""
    root = ElementTree.fromstring(svg)
    picture = Picture(float(root.get("width", "")), float(root.get("height", "")), [], [], [], [])
    _walk(root, 0.0, 0.0, picture)
    return picture


def overlaps(areas: list[Area]) -> list[tuple[Area, Area]]:
    """Return the pairs of areas that share more than half a pixel in both directions."""
    found = []
    ordered = sorted(areas, key=lambda area: area.top)
    for number, upper in enumerate(ordered):
        for lower in ordered[number + 1 :]:
            if lower.top > upper.bottom - 0.5:
                break
            if min(upper.right, lower.right) - max(upper.left, lower.left) > 0.5:
                found.append((upper, lower))
    return found


def struck(picture: Picture) -> list[tuple[Area, tuple[float, float]]]:
    """Return the texts that a link runs through."""
    return [
        (area, point)
        for area in picture.texts
        for point in picture.links
        if area.left < point[0] < area.right and area.top < point[1] < area.bottom
    ]


def _walk(element: ElementTree.Element, x: float, y: float, picture: Picture) -> None:
    moved = re.fullmatch(r"translate\(([\d.]+) ([\d.]+)\)", element.get("transform", ""))
    if moved:
        x, y = x + float(moved[1]), y + float(moved[2])
    for child in element:
        tag = child.tag.removeprefix(SVG)
        if tag == "text":
            picture.texts.append(_text(child, x, y))
        elif tag == "rect" and child.get("x"):
            left, top = x + float(child.get("x", "")), y + float(child.get("y", ""))
            right, bottom = (
                left + float(child.get("width", "")),
                top + float(child.get("height", "")),
            )
            picture.boxes.append(Area(left, top, right, bottom))
        elif tag == "path":
            picture.links.extend((x + a, y + b) for a, b in _points(child.get("d", "")))
        elif tag == "title" and element.tag == f"{SVG}g":
            picture.titles.append(child.text or "")
        _walk(child, x, y, picture)


def _text(element: ElementTree.Element, x: float, y: float) -> Area:
    left, wide = x + float(element.get("x", "")), float(element.get("textLength", ""))
    baseline = y + float(element.get("y", ""))
    # From above capitals to below the line, as letters with accents and tails reach.
    return Area(
        left, baseline - 0.85 * SIZE, left + wide, baseline + 0.25 * SIZE, element.text or ""
    )


def _points(path: str) -> list[tuple[float, float]]:
    points = []
    for start, bends in re.findall(r"M([^C]+)C([^M]+)", path):
        numbers = [float(number) for number in f"{start} {bends}".split()]
        corners = list(zip(numbers[::2], numbers[1::2], strict=True))
        for step in range(25):
            level = corners
            while len(level) > 1:  # de Casteljau
                share = step / 24
                level = [
                    (a[0] + (b[0] - a[0]) * share, a[1] + (b[1] - a[1]) * share)
                    for a, b in pairwise(level)
                ]
            points.append(level[0])
    return points
