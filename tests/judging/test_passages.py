"""The passage of a paper that a statement rests on: the formula by hand, and runs of paragraphs."""

from __future__ import annotations

import pytest
from helpers import Memory
from hypothesis import given
from hypothesis import strategies as st

import arena
from arena_suites.verification.evidence import best_passage, passages_of, pieces
from corpus_builder.build import build

LONG = "Filler words stand here. " * 60 + "\n\n" + "The spectral gap bounds mixing."
PAPER = {
    "id": "p", "title": "Mixing", "date": "2019", "abstract": "Random walks mix.",
    "sections": [
        {"heading": "Bounds", "text": LONG},
        {"heading": "Walks", "text": "Walks mix. Walks mix fast if the gap is large."},
    ],
}  # fmt: skip
SURVEY = {"id": "s", "title": "A survey", "date": "2020-06", "references": ["p"]}


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    directory = tmp_path_factory.mktemp("passages") / "corpus"
    build(Memory([PAPER, {"id": "q", "title": "Q", "date": "2019"}], [SURVEY]), directory)
    return arena.Corpus.open(directory).at("2020-06-30")


@pytest.mark.parametrize(
    ("statement", "heading", "begins"),
    [
        # Terms and df of the four passages: mix 3 (abstract, Bounds 2, Walks), walk 2, gap 2,
        # spectral 1, random 1.
        ("The spectral gap matters.", "Bounds", "The spectral gap"),
        ("A random walk.", "Abstract", "Random"),
        # The abstract scores log(1 + 4/2) + log(1 + 4/3), Walks that and log(1 + 4/2).
        ("Walks mix by the gap.", "Walks", "Walks mix."),
        ("Nothing of this.", "Abstract", "Random"),  # all 0: the first
        ("Walks mix.", "Abstract", "Random"),  # equal scores: the first
    ],
)
def test_the_best_passage(statement, heading, begins, view):
    passage = best_passage(passages_of(view, "p"), statement)
    assert (passage.title, passage.heading) == ("Mixing", heading)
    assert passage.text.startswith(begins)


@given(st.lists(st.text("ab \n", max_size=60), max_size=8).map("\n\n".join), st.integers(5, 50))
def test_pieces_keep_every_letter(text, longest):
    found = list(pieces(text, longest))
    assert all(0 < len(piece) <= longest for piece in found)
    assert "".join("".join(found).split()) == "".join(text.split())
