"""What metrics of surveys share: matching, answers, reasons."""

from __future__ import annotations

import pytest
from arena_suites.bloom_eval import (
    Article,
    Heading,
    SurveyComparison,
    SurveyPair,
    compare,
)
from arena_suites.bloom_eval.matching import ratios

from arena.report import Report


def survey(*outline: tuple[int, str]) -> Article:
    return Article("T", "", tuple(Heading(*each) for each in outline), (), (), Report("T"))


PAIR = (
    survey((0, "T"), (1, "Graphs"), (2, "Paths"), (1, "Trees")),
    survey((0, "T"), (1, "Graphs"), (1, "Trees")),
)


def test_shape_consistency() -> None:
    # 3 levels and 3 headings beside 2 and 2: sqrt(2/3 * 2/3)
    rows = compare(SurveyPair(*PAIR), ["scons"])
    assert rows["scons"]["finding"].scores == {"": pytest.approx(2 / 3)}
    assert rows["scons"]["calls"] == 0 and rows["scons"]["seconds"] >= 0


def test_embeddings_match_one_to_one() -> None:
    pair = SurveyPair(*PAIR, SurveyComparison(threshold=0.9))
    assert pair.match(["Graphs", "Trees", ""], ["Trees", "Tree", "Soup"], "x") == [(1, 0)]


def test_ratios_have_no_value_without_gold() -> None:
    assert ratios(0, 0, 3) == {"f1": None, "precision": None, "recall": None}
    assert ratios(0, 3, 0) == {"f1": 0.0, "precision": 0.0, "recall": 0.0}
