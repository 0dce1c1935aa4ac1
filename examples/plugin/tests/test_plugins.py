"""The plug-ins in a small corpus; `arena plugins` lists them once the package is installed."""

from pathlib import Path

import pytest

import arena
from arena.metrics import evaluate
from corpus_builder.build import build
from corpus_builder.index import build_index
from corpus_builder.questions import read_questions
from corpus_builder.sources.example import Example


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    build(Example(), tmp_path / "corpus")
    return tmp_path / "corpus"


def test_noise():
    scores = evaluate(["x", "a", "y", "b"], {"a": 1, "b": 2}, ["noise@1", "noise@2", "noise"])
    assert scores == {"noise@1": 1.0, "noise@2": 0.5, "noise": 0.5}


def test_no_paper_of_the_future_is_found(corpus: Path):
    build_index(corpus, "overlap")
    view = arena.Corpus.open(corpus).at("2015-01-01", retriever="overlap")
    hits = view.search("graph search", 20)
    assert hits
    assert all(hit.date < view.cutoff for hit in hits)


def test_questions(tmp_path: Path):
    (tmp_path / "questions.tsv").write_text("2020-05-01\twhat is known?\tOne\tAnother\n")
    (question,) = read_questions("tabbed", tmp_path / "questions.tsv")
    assert [paper.title for paper in question.gold] == ["One", "Another"]
