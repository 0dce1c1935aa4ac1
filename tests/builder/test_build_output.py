"""Building: the output directory is never half a corpus, and files of others stay."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from helpers import SMALL, contents, names

from arena.corpus import layout
from arena.errors import CorpusError
from corpus_builder.build import build
from corpus_builder.manifest import verify


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize(
    "files",
    [
        {"notes.txt": "mine"},
        {"manifest.json": "[]"},
        {"manifest.json": '{"format_version": 1, "engine": "bm25", "files": {}}'},
        {"below/notes.txt": "mine"},
    ],
)
def test_other_files_are_never_deleted(tmp_path: Path, files: Any, overwrite: bool) -> None:
    output = tmp_path / "c"
    for name, text in files.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_text(text)
    with pytest.raises(CorpusError, match=r"contains other files, '.*' for one"):
        build(SMALL, output, overwrite=overwrite)
    assert {name: data.decode() for name, data in contents(output).items()} == files
    assert names(tmp_path) == ["c"]


def test_an_empty_directory_and_links(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "nowhere").symlink_to("new")
    build(SMALL, tmp_path / "link")
    build(SMALL, tmp_path / "link", overwrite=True)
    build(SMALL, tmp_path / "nowhere")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "nowhere").is_symlink()
    assert contents(tmp_path / "real") == contents(tmp_path / "new")
    assert names(tmp_path) == ["link", "new", "nowhere", "real"]
    build(SMALL, tmp_path / "a" / "b" / "c")
    assert verify(tmp_path / "a/b/c")["problems"] == {}


def test_overwrite(tmp_path: Path, mini: Path) -> None:
    output = tmp_path / "c"
    shutil.copytree(mini, output)
    build(SMALL, output, overwrite=True)
    build(SMALL, tmp_path / "fresh")
    assert contents(output) == contents(tmp_path / "fresh")
    manifest = json.loads((output / layout.MANIFEST).read_text())
    manifest["format_version"] = 99  # a corpus of another release is a corpus
    (output / layout.MANIFEST).write_text(json.dumps(manifest))
    build(SMALL, output, overwrite=True)
    assert contents(output) == contents(tmp_path / "fresh")
    assert names(tmp_path) == ["c", "fresh"]
