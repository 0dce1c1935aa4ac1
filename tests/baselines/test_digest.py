"""The baseline digest: which sentences it quotes, and that it quotes alone."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.agents import KnownPaper
from arena.report import cited_ids, read_report
from baselines.digest import digest, sentence

WEIGHTS = {"graph": 2.0, "search": 1.0, "walk": 1.0}


def of(abstract, title="Graph search"):
    return sentence(KnownPaper("a", title, "2019-01-01", abstract), WEIGHTS)


def test_the_sentence_says_what_the_title_says():
    # Of the title's weights 3: "graph" is 2/3, "search" is 1/3, both are 1.
    only_search = "To search is to look for what was lost before."
    graphs = "Every graph has nodes, and most have edges too."
    both = "It is graphs that are searched by many of us."
    assert of(f"{only_search} {graphs}") == graphs
    own = "We show how to do a thing that is entirely new."
    assert of(f"{only_search} {graphs} {own}") == own
    assert of(f"{graphs} {both}") == graphs  # 2/3 against 1 - 1/2: "It" leans on another sentence
    assert of(f"{graphs} {graphs[:-1]}!") == graphs  # equals: the first


@pytest.mark.parametrize(
    "unfit",
    [
        "Graph search.",
        "Graph search is " + "very " * 100 + "old.",
        "The code of graph search is at https://example.org/code now.",
        "As in earlier work [3], a graph is searched in full here.",
        "A graph is searched in full (Smith and Jones, 2019b) by it.",
        "A graph is searched in full, but the abstract ends wi",
    ],
)
def test_what_is_not_quoted(unfit):
    assert of(unfit) == ""


WORDS = st.sampled_from(
    ["graph", "Graphs", "*search*", "we propose", "_x_", "1.5", "e.g.", "$x^2$", "<b>", "`a`",
     "[@b]", "@b", "&lt;", "“so”", "However", "~~no~~", "# of", "![i](u)", "(2019)", "\\"]
)  # fmt: skip
ABSTRACT = st.lists(st.lists(WORDS, min_size=3, max_size=14).map(" ".join), max_size=4).map(
    lambda said: "".join(f"{one}. " for one in said)
)
PAPERS = st.lists(
    st.builds(
        KnownPaper, st.sampled_from("abcdefgh"),
        st.lists(WORDS, max_size=6).map(" ".join),
        st.just("2019-01-01"), ABSTRACT,
    ),
    unique_by=lambda paper: paper.id, max_size=6,
)  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(PAPERS)
def test_every_quotation_stands_in_the_abstract_of_the_paper_that_it_cites(papers):
    text = digest(papers, "Graph *search*", "2020-01-01")
    assert sorted(cited_ids(text)) == sorted(paper.id for paper in papers)
    abstracts = {paper.id: " ".join(paper.abstract.split()) for paper in papers}
    report = read_report(text, ["pandoc"])  # as the task reads it
    assert len(report.cited) == len(papers)
    for statement in report.statements:
        if match := re.search(r"2019: “(.*)”\.?$", statement.text):
            assert match[1] in abstracts[statement.citations[0]]
            assert len(statement.citations) == 1
    assert digest(papers, "Graph *search*", "2020-01-01") == text
