"""Sections that a model writes: citations by number, headings, what is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.llm import ParseError
from arena.report import cited_ids
from baselines.parts.asking import citing, parts_of, section, section_in

PAPERS = ["a", "b", "doi:10.1/x,y"]


@pytest.mark.parametrize(
    ("said", "cited"),
    [
        ("Known [1].", "Known [@a]."),
        ("Known [1-3].", "Known [@a; @b; @{doi:10.1/x,y}]."),
        ("Known [1 and 3; 2].", "Known [@a; @{doi:10.1/x,y}; @b]."),
        ("Known [@2; @1], [^1].", "Known [@b; @a], [@a]."),
        ("Invented [4], [0] and [2019].", "Invented, and."),
        ("Invented [@smith2019] or [see\n@a, p. 3].", "Invented or."),
        ("A [link](u), [1](u), f(x)[i], a[0.5].", "A [link](u), [1](u), f(x)[i], a[0.5]."),
    ],
)
def test_numbers_become_citations(said, cited):
    assert citing(said, PAPERS) == cited


@given(
    st.lists(
        st.one_of(
            st.text("[]@;, -–1239aA【】^(x)\n", max_size=12),
            st.sampled_from(["[1]", "[2, 9]", "[@b]", "[@future]", "[1-99999999]"]),
        )
    ).map("".join)
)
def test_nothing_but_known_papers_is_cited(text):
    assert set(cited_ids(citing(text, PAPERS))) <= set(PAPERS)


def test_a_section():
    text = "## kinds\n# Fast\nOne [1].\n### Very fast\nTwo."
    assert section("Kinds", text, ["a"]) == (
        "## Kinds\n\n### Fast\nOne [@a].\n##### Very fast\nTwo.\n\n"
    )
    assert section("*All*", "Plain.", []) == "## \\*All\\*\n\nPlain.\n\n"


def test_what_a_model_wrote():
    said = "Here: <section>\nText [1].\n\n## References\n[1] A title\n</section>"
    assert section_in(said) == "Text [1]."
    assert section_in("<section>It has [1] references.</section>") == "It has [1] references."
    for empty in (
        "Text.",
        "<section># Only a heading</section>",
        "<section>**References**</section>",
    ):
        with pytest.raises(ParseError):
            section_in(empty)


def test_parts_of_an_outline():
    outline = "# topic\n## A\n### A1\n#### A11\n## B\n## C"
    assert parts_of(outline, 2) == [("A", "A1\nA11"), ("B", "")]
    assert parts_of("", 2) == []
