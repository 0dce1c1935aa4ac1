"""Plots: text stays text, and what is missing is named in one line."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from arena._internal.plots import draw, short
from arena.errors import DataError

EVIL = '</text><script>1</script>" $\\frac$ \u691c'


def test_text_stays_text():
    picture = draw(lambda axes: axes.set_title(short("\u202e\x00" + EVIL)))["svg"]
    root = ET.fromstring(picture)
    assert EVIL in [element.text for element in root.iter()]
    assert "script" not in {element.tag.rpartition("}")[2] for element in root.iter()}
    assert "\u202e".encode() not in picture


def test_without_matplotlib(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(DataError, match=r"'matplotlib', which .* 'researcharena\[plots\]'"):
        draw(lambda axes: None)
