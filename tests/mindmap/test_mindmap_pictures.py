"""The picture of a mind-map: any text is safe in it, and headings of one meaning are marked."""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from arena.mindmap import MindMap, matches
from arena_suites.maps.formats import render


def test_any_text_is_safe():
    hostile = "</text><script>alert(1)</script>&amp; ]]> \x00\x1b[31m\ud800\ufffe\u202e\"' \n\tend"
    svg = render(MindMap(hostile, (MindMap("a & b < c"),)), "svg")
    svg.encode("utf-8")
    _, *titles = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}title")
    assert [title.text for title in titles] == [
        "</text><script>alert(1)</script>&amp; ]]> [31m\"' end", "a & b < c",
    ]  # fmt: skip
    assert "<script" not in svg
    assert svg.count("http") == 1  # the name space; nothing is fetched


def test_matches_by_meaning():
    class Plane:
        known = {"x": [1, 0], "y": [0.9, 0.435], "z": [0, 1]}  # noqa: RUF012 - cosine of x, y: 0.9

        def queries(self, texts):
            return np.array([self.known[text] for text in texts], float)

    left, right = (MindMap("x", tuple(map(MindMap, labels))) for labels in ("xz", "y"))
    assert matches(left, right, Plane()) == ({"x": 1}, {"y": 1})
    assert matches(left, right, None) == ({}, {})
