"""Citations as they are written, and a list of papers as a report."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from arena.report.listing import cite, entry, heading, listing, plain

TEXTS = st.text(st.characters(exclude_categories=["C", "Z"], include_characters=" "))


def test_a_list_is_a_report():
    papers = [("a", "What? A *study*", "2019-01-02"), ("doi:10.1/x,y", "Two", "2020")]
    assert listing("graph  search\nmore of it", papers) == (
        "# graph search\n\n## Papers\n\n"
        "- “What? A \\*study\\*”, 2019 [@a].\n- “Two”, 2020 [@{doi:10.1/x,y}].\n"
    )
    assert listing("", []) == "# \n\n## Papers\n\n"
    assert cite([]) == ""
    assert entry("a.", "T", "") == "- “T”,  [@{a.}]."
    assert heading(" \n") == ""


@given(TEXTS)
def test_markdown_shows_a_plain_text_as_it_is(text):
    (_, inline, _, *_) = MarkdownIt("commonmark").parse(f"“{plain(text)}”")
    shown = "".join(child.content for child in inline.children)
    assert shown == f"“{' '.join(text.split())}”"
