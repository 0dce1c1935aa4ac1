"""The picture of a mind-map: no labels overlap, all is inside, any text is safe in it."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from picture_helpers import overlaps, read_picture, struck

from arena.mindmap import MindMap, matches, render
from arena.text.display import shown

WORDS = ["graph", "neural", "retrieval", "of", "dense", "検索拡張", "מידע", "survey-based", "x",
         "Ångström", "(2024)", "METHODS"]  # fmt: skip


def check(svg: str, tree: MindMap | None = None) -> None:
    """Nothing overlaps, nothing is struck through, nothing stands outside."""
    picture = read_picture(svg)
    assert overlaps(picture.texts) == []
    assert struck(picture) == []
    for area in [*picture.texts, *picture.boxes]:
        assert area.left >= 0
        assert area.top >= 0
        assert area.right <= picture.width
        assert area.bottom <= picture.height
    assert overlaps(picture.boxes) == []
    if tree is not None:
        assert picture.titles == list(map(title_of, tree.nodes()))


def title_of(node: MindMap) -> str:
    """Return what the pointer shows over a node."""
    count = len(node.papers)
    papers = {0: "", 1: "1 paper"}.get(count, f"{count:,} papers")
    return " - ".join(part for part in (shown(node.label), papers) if part)


texts = st.one_of(
    st.text(max_size=30),
    st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join),
    st.text("W漢", min_size=1, max_size=500),
)
papers = st.integers(0, 3).map(lambda n: tuple(f"p{k}" for k in range(n)))
trees = st.recursive(
    st.builds(lambda label, filed: MindMap(label, (), filed), texts, papers),
    lambda below: st.builds(
        lambda label, children, filed: MindMap(label, tuple(children), filed),
        texts,
        st.lists(below, max_size=6),
        papers,
    ),
    max_leaves=40,
)


@settings(max_examples=60, deadline=None)
@given(trees)
def test_no_labels_overlap(tree):
    check(render(tree, "svg"), tree)


def test_any_text_is_safe():
    hostile = "</text><script>alert(1)</script>&amp; ]]> \x00\x1b[31m\ud800\ufffe\u202e\"' \n\tend"
    svg = render(MindMap(hostile, (MindMap("a & b < c"),)), "svg")
    svg.encode("utf-8")
    picture = read_picture(svg)
    assert picture.titles == [
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
