"""``arena mindmap show``, as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.cli import main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "docs" / "example" / "mind-map.json"
GUESS = ROOT / "docs" / "example" / "mind-map-guess.md"
MAP = {
    "label": "Ranking",
    "children": [{"label": "Dense ", "children": ["Training"], "papers": ["a", "b"]}, "Data"],
}
TEXT = "Ranking\n├── Dense (2 papers)\n│   └── Training\n└── Data\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "map.json"
    path.write_text(json.dumps(MAP), encoding="utf-8")
    return path


def show(*arguments: object) -> int:
    return main(["mindmap", "show", *map(str, arguments)])


def test_text_and_repairs(file, capsys):
    assert show(file) == 0
    out, err = capsys.readouterr()
    assert out == TEXT
    assert err == f"{file}: whitespace in labels collapsed (1): 'Dense '.\n"


def test_depth(file, capsys):
    assert show(file, "--depth", 1) == 0
    out, err = capsys.readouterr()
    assert out == "Ranking\n├── Dense (2 papers)\n└── Data\n"
    assert err.endswith(f"{file}: 1 heading below level 1 left out.\n")
    assert show(file, "--depth", 5) == 0
    assert "left out" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.json"], "'nowhere.json'"),
        ([EXAMPLE, "--format", "svgg"], "no mind-map format named 'svgg'. Did you mean 'svg'?"),
        ([EXAMPLE, "--output", "x.tiff"], "its suffix is that of no format"),
        ([EXAMPLE, "--output", "nowhere/x.svg"], "no directory"),
        ([EXAMPLE, "--format", "svg", "--json"], "--json takes no --format"),
        ([EXAMPLE, "--depth", "-1"], "depth -1"),
    ],
)
def test_mistakes_are_one_line(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert show(*arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_what_is_read_is_not_written_over(file, tmp_path, capsys):
    before = file.read_bytes()
    (tmp_path / "link.json").symlink_to(file)
    for output in (file, tmp_path / "link.json"):
        assert show(file, "--output", output, "--format", "svg") == 2
        assert "is the file that was read" in capsys.readouterr().err
    assert file.read_bytes() == before


def test_labels_do_not_reach_the_terminal_raw(tmp_path, capsys):
    path = tmp_path / "map.json"
    path.write_text(json.dumps({"label": "a\x1b[2Jb", "children": [" \x9bx", "y\u202e"]}))
    assert show(path) == 0
    out, err = capsys.readouterr()
    assert out == "a[2Jb\n├── x\n└── y\n"
    assert "\x1b" not in err + out
    assert "\x9b" not in err + out
