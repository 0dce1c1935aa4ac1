"""The ticks of plots, and that text of others stays text in them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.results.plots import Plot, ticks

EVIL = '</text><script>alert(1)</script>" onload="x\u202e&lt;'


@given(st.integers(0, 10**9), st.integers(2, 12))
def test_whole_ticks(top, most):
    found = ticks(0, top, most, whole=True)
    assert found[0] == 0 and found[-1] >= max(top, 1) and len(found) <= most + 1
    step = int(found[1])
    assert re.fullmatch("[125]0*", str(step)) and found == list(range(0, int(found[-1]) + 1, step))


@given(st.floats(-1e6, 1e6), st.floats(0, 1e6), st.integers(2, 12))
def test_ticks_span_the_values(low, length, most):
    found = ticks(low, low + length, most)
    slack = 1e-6 * max(1.0, found[1] - found[0])
    assert found[0] <= low + slack and found[-1] >= low + length - slack
    assert 2 <= len(found) <= most + 2


def test_text_stays_text():
    plot = Plot(0, 100, 0, 100)
    plot.text(0, 0, EVIL, room=60)
    plot.bar("bar", 0, 0, 1, 1, EVIL, link="s1")
    plot.dot("dot", 1, 1, 1, EVIL)
    plot.titles(EVIL, EVIL)
    with plot.group("c0", EVIL):
        plot.path("curve", [(0, 0), (1, 1)], EVIL)
    root = ET.fromstring(plot.file(100, 100, EVIL, ""))
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert tags == {"svg", "title", "style", "rect", "text", "circle", "path", "g", "a"}
    assert not any(name.startswith("on") for e in root.iter() for name in e.attrib)
    assert "\u202e" not in plot.inside(100, 100, EVIL)
    titles = [e.text for e in root.iter() if e.tag.endswith("title")]
    assert titles[0] == EVIL.replace("\u202e", "")


@pytest.mark.parametrize(("value", "shown"), [("short", "short"), ("a long name " * 9, "a long")])
def test_text_is_cut_to_its_room(value, shown):
    plot = Plot(0, 100, 0, 100)
    plot.text(0, 0, value, room=80)
    text = next(
        ET.fromstring(plot.file(100, 100, "x", "")).iter("{http://www.w3.org/2000/svg}text")
    )
    assert text.text.startswith(shown) and float(text.get("textLength")) <= 80
    assert (text.text.endswith("…")) == (value != shown)
