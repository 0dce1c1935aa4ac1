"""Whatever a text contains, reading it ends without an exception."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.report import read_report

LISTED = "# T\n\nIt works [1].\n\n# References\n\n"


@pytest.mark.parametrize(
    ("entries", "read"),
    [
        ("[^1] Smith", [("^1", "Smith")]),
        ("**1)** Smith\n\n**2)** Lee", [("1", "Smith"), ("2", "Lee")]),
        ("1] Smith\n\n2] Lee", [("1", "Smith"), ("2", "Lee")]),
        ("7\tSmith https://a.b/c", [("7 Smith https://a.b/c (1)", "7 Smith https://a.b/c")]),
        *(
            (
                f"Smith, J. Sorting. 2020. Available:{blank}https://a.b/c",
                [("smith 2020", "Smith, J. Sorting. 2020. Available: https://a.b/c")],
            )
            for blank in "\n\t\u00a0 "
        ),
    ],
)
def test_an_entry_is_read_as_far_as_it_can_be(entries, read):
    found = read_report(LISTED + entries).references
    assert [(each.key, each.text) for each in found][: len(read)] == read


@pytest.mark.parametrize("text", ["\u3000", "\u00a0\n\u3000\n", "\x1c", "\u2028", "", "\n"])
def test_a_report_of_blanks_has_nothing(text):
    assert read_report(text) == read_report("")
    assert not read_report(text).sections


def test_characters_that_the_reader_uses_itself_are_blanks_of_a_text():
    report = read_report("It works&#xE000; well&#xE001; [1]. Or\ue000 not.")
    assert [each[::2] for each in report.statements] == [("It works well", ("1",)), ("Or not.", ())]


def test_a_comma_before_a_range_and_a_section_of_sgml_are_read():
    assert [each.key for each in read_report("It works [3,-5].").references] == ["3", "4", "5"]
    assert read_report("<p>It <![a[ works.</p>").statements


def test_half_a_character_in_an_address_is_kept():
    (reference,) = read_report("See https://a.b/?x=\ud800y now.").references
    assert reference.ids[0].startswith("url:")


PARTS = st.sampled_from(
    [
        *".!\u3000[]()Aa1-*_`$\\^{}<>#|@“\n\t ",
        "\n\n", "[1] ", "[^1]", "1) ", "1] ", "(Smith, 2020)", "Smith, J. ", "2020. ", "et al. ",
        "https://a.b/c ", "[a](http://b.c) ", "# References\n\n", "1. ", "<p>", "<!--", "&#xE000;",
        "[@a]", "arxiv: ", "doi:10.1000/", "^{1 ", "Available:\n", "a.b", "---\n", "|a|b|\n|-|-|\n",
        "<![", "<![a[", "[3,-5]",
    ]
)  # fmt: skip


@given(st.lists(PARTS, max_size=40).map("".join))
def test_no_text_raises(text):
    for each in (text, LISTED + text, f"<p>{text}</p>"):
        report = read_report(each)
        keys = [reference.key for reference in report.references]
        assert len(keys) == len(set(keys))
        assert {key for s in report.statements for key in s.citations} <= {*keys}
        assert {s.section for s in report.statements} <= set(range(len(report.sections)))


def test_a_tag_that_does_not_end_is_text():
    page = """<p>It is <b>less</b> <!-- <p>than</p> --> <a title="x < 2">if a <b</a> <c.</p>"""
    (statement,) = read_report(page).statements
    assert statement.text == "It is less if a <b <c."
