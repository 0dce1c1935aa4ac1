"""Formatting Integrity: what is cited beside what is listed."""

from __future__ import annotations

import pytest

from arena.report import Reference, Report, Statement, read_report
from arena_suites.bloom_eval import (
    Article,
    Finding,
    SurveyComparison,
    SurveyPair,
    article_of,
    compare,
)


def score(text: str, entries: tuple[str, ...] = (), official: bool = False) -> Finding:
    article = article_of(read_report(text), text)._replace(entries=entries)
    rows = compare(SurveyPair(article, article, SurveyComparison(official=official)), ["fmi"])
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
    article = Article("T", "", (), (), report)
    assert compare(SurveyPair(article, article), ["fmi"])["fmi"]["finding"].scores == {"": 0.5}


ENTRIES = (
    "[1] Ann Ames, B. Bell. 2020. On nets.",
    "[2] Ames AM, Bell B. 2021. On trees.",
    "[3] Müller, C. & Bell, B. (2022). On leaves.",
)


def test_the_released_code_counts_kinds_that_are_cited() -> None:
    # numbers 1, 2 of 1-3; the range of 102 numbers is none
    assert score("Nets [1, 2] and [5-106].", ENTRIES, True).scores == {"": pytest.approx(2 / 3)}
    # a range of 101 numbers is "100 wide": 1 to 101, of which 3 are defined
    assert score("Nets [1–101].", ENTRIES, True).scores == {"": pytest.approx(3 / 101)}
    # an equation's number in round brackets counts, too
    assert score("Nets (4) and [1; 2].", ENTRIES, True).scores == {"": pytest.approx(2 / 4)}
    # (ames, 2020), (ames, 2021) and (muller, 2022); (cole, 2020) is not defined
    text = "Old (Ames 2020), more (Ames et al., 2021a; Cole and Bell, 2020) and [Müller 2O22]."
    assert score(text, ENTRIES, True).scores == {"": pytest.approx(3 / 4)}
    # a year in brackets is a number, too, and brings in the numbers: 1 of 3 + 3 and 2020
    assert score("Ames (2020).", ENTRIES, True).scores == {"": pytest.approx(1 / 7)}


def test_the_released_code_reads_a_list_of_numbers_in_square_brackets() -> None:
    # cited 1, 3; listed 1, 2; the list itself cites nothing
    assert score(f"# Nets\n\nOld [1], new [3].{LIST}", official=True).scores == {
        "": pytest.approx(1 / 3)
    }
    # "1." defines nothing
    text = "# Nets\n\nOld [1].\n\n# References\n\n1. Ames. On nets. 2020."
    assert score(text, official=True).scores == {"": 0.0}
