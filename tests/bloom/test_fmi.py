"""Formatting Integrity: what is cited beside what is listed."""

from __future__ import annotations

import pytest

from arena.bloom import Article, Finding, Pair, Tools, Work, article_of, compare
from arena.report import Reference, Report, Statement, read_report


def score(text: str, works: tuple[Work, ...] = (), official: bool = False) -> Finding:
    article = article_of(read_report(text), text)._replace(works=works)
    rows = compare(Pair(article, article, Tools(official=official)), ["fmi"])
    finding: Finding = rows["fmi"]["finding"]
    return finding


LIST = "\n\n# References\n\n[1] Ames. On nets. 2020.\n\n[2] Bell. On trees. 2021."


def test_two_of_four_keys_agree() -> None:
    # cited 1, 3; listed 1, 2: {1} of {1, 2, 3}
    finding = score(f"# T\n\n# Nets\n\nNets are old [1]. Trees are new [3].{LIST}")
    assert finding.scores == {"": pytest.approx(1 / 3)}
    assert list(finding.rows) == [("2", "not cited"), ("3", "not listed")]


def test_a_survey_without_citations_has_no_format() -> None:
    assert score("# T\n\n# Nets\n\nNets are old.").scores == {"": 0.0}
    assert score("# T\n\n# Nets\n\nNets are old.", official=True).scores == {"": 1.0}


def test_a_paper_cited_by_its_id_needs_no_entry() -> None:
    known = Reference("a", ids=("corpus:a",), paper="a")
    report = Report("T", (), (Statement("Nets.", 0, ("a", "b")),), (known, Reference("b")))
    article = Article("T", "", (), (), (), report)
    assert compare(Pair(article, article), ["fmi"])["fmi"]["finding"].scores == {"": 0.5}


WORKS = tuple(Work("t", authors=("Ann Ames", "B. Bell"), year=2020 + n) for n in range(3))


def test_the_released_code_counts_kinds_that_are_cited() -> None:
    # numbers 1, 2 of 1-3; the range of 102 numbers is none
    assert score("Nets [1, 2] and [5-106].", WORKS, True).scores == {"": pytest.approx(2 / 3)}
    # a range of 101 numbers is "100 wide": 1 to 101, of which 3 are defined
    assert score("Nets [1-101].", WORKS, True).scores == {"": pytest.approx(3 / 101)}
    # (ames, 2020) and (ames, 2021) of the three; (cole, 2020) is not defined
    text = "Ames (2020) and more (Ames et al., 2021a; see Cole and Bell, 2020)."
    assert score(text, WORKS, True).scores == {"": pytest.approx(2 / 4)}
    # one number among names brings in the numbers, too: 3 of 3 + 3
    text = "Nets [1], Ames (2020), (Ames, 2021)."
    assert score(text, WORKS, True).scores == {"": pytest.approx(3 / 6)}
