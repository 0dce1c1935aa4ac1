"""``arena mindmap show``, as a person types it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.cli import main
from arena_suites.maps.files import read_mind_map_file
from arena_suites.maps.formats import render

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


def test_every_format_is_printed_and_written(file, tmp_path, capsys):
    tree, _ = read_mind_map_file(file)
    for name, suffix in (
        ("text", "txt"), ("json", "json"), ("markdown", "md"), ("mermaid", "mmd"), ("svg", "svg"),
    ):  # fmt: skip
        assert show(file, "--format", name) == 0
        assert capsys.readouterr().out == render(tree, name)
        output = tmp_path / f"out.{suffix}"
        assert show(file, "--output", output) == 0
        assert capsys.readouterr().out == f"{output}: {name}, 3 headings\n"
        assert output.read_text(encoding="utf-8") == render(tree, name)
    # The format that is named counts, whatever the suffix.
    assert show(file, "--output", tmp_path / "x.svg", "--format", "text") == 0
    assert (tmp_path / "x.svg").read_text(encoding="utf-8") == TEXT


def read(path: Path):
    return read_mind_map_file(path)[0]


def test_json(file, capsys):
    assert show(file, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {
        "nodes": 3,
        "depth": 2,
        "papers": 2,
        "repairs": ["whitespace in labels collapsed (1): 'Dense '."],
        "mind_map": read(file).to_json(),
    }


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
