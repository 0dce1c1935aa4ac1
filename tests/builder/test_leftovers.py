"""What a killed writer leaves in a corpus stops no command, wherever it lies."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from helpers import SMALL

import arena
from arena._internal.files import TEMPORARY_SUFFIX
from corpus_builder.build import build
from corpus_builder.card import write_card
from corpus_builder.index import build_index
from corpus_builder.manifest import verify

LEFTOVER = f".0123456789abcdef{TEMPORARY_SUFFIX}"
FOLDERS = [
    ".", "lookup", "tasks", "index", "index/bm25", "card",
    "index/.titles.building", ".card.building",
]  # fmt: skip


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_leftover_stops_no_command(tmp_path: Path, folder: str) -> None:
    corpus = tmp_path / "corpus"
    build(SMALL, corpus)
    write_card(corpus)

    def leave() -> None:
        (corpus / folder).mkdir(exist_ok=True)
        (corpus / folder / LEFTOVER).write_text("half a manif")

    leave()
    assert verify(corpus)["problems"] == {}
    assert len(arena.Corpus.open(corpus).at("2020").search("alpha")) == 1
    leave()
    build_index(corpus, "bm25", name="titles", fields=["title"])
    leave()
    build_index(corpus, "bm25", name="titles", fields=["title"], overwrite=True)
    leave()
    write_card(corpus)
    leave()
    assert verify(corpus)["problems"] == {}
    build(SMALL, corpus, overwrite=True)
    assert not list(corpus.rglob(LEFTOVER))
    assert verify(corpus)["problems"] == {}


def test_a_leftover_beside_a_corpus_stops_no_build(tmp_path: Path) -> None:
    """Also in the directory in which the next corpus is built."""
    (tmp_path / ".corpus.building" / "new-0123456789abcdef").mkdir(parents=True)
    (tmp_path / ".corpus.building" / LEFTOVER).write_text("")
    (tmp_path / LEFTOVER).write_text("")
    build(SMALL, tmp_path / "corpus")
    assert not (tmp_path / ".corpus.building").exists()
    shutil.rmtree(tmp_path / "corpus")
