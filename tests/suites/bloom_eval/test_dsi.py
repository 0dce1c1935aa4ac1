"""Document Structure Integrity: which of four parts a survey has."""

from __future__ import annotations

import pytest

from arena.report import read_report
from arena_suites.bloom_eval import SurveyComparison, SurveyPair, article_of, compare

LEAD = "Nets are drawn in many ways and this text gathers what is known about them " * 3
LIST = "# References\n\n[1] Ames. On nets. 2020.\n\n[2] Bell. On trees. 2021."


def found(*pieces: str, official: bool = False) -> set[str]:
    text = "\n\n".join(["# T", *pieces])
    article = article_of(read_report(text), text)
    rows = compare(SurveyPair(article, article, SurveyComparison(official=official)), ["dsi"])[
        "dsi"
    ]["finding"]
    parts = {part for part, where in rows.rows if where != "missing"}
    assert rows.scores == {"": len(parts) / 4}
    return {part[:3] for part in parts}


@pytest.mark.parametrize(
    ("pieces", "parts"),
    [
        (("## Abstract", "A.", "## 1. Introduction", "B.", "## 2 Conclusion", "C.", LIST), "airc"),
        (("## I. INTRODUCTION", "B.", "## II. NETS", "C.", "## IV. CLOSING REMARKS", "D."), "ic"),
        ((LEAD, "## Nets", "B.", "## Trees", "C."), "a"),
        (("## Summary", "A.", "## Nets", "B.", "## Outlook", "C.", "## Funding", "D."), "ac"),
        (("## 1 Nets", "B.", "### 1.1 Discussion", "C.", "## 2 Trees", "D."), ""),
    ],
)  # fmt: skip
def test_parts_as_people_write_them(pieces: tuple[str, ...], parts: str) -> None:
    names = {"a": "abs", "i": "int", "c": "con", "r": "ref"}
    assert found(*pieces) == {names[letter] for letter in parts}


def test_the_released_code_seeks_four_words_in_headings() -> None:
    text = (
        "Abstract",
        "## 2 The Introduction",
        "A.",
        "## Bibliography",
        "B.",
        "## Closing remarks",
    )
    assert found(*text, official=True) == {"int", "ref"}
