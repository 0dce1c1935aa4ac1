"""Themes of references, their balance, and how two surveys' themes agree."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import pytest
from llm_server import LLMServer

from arena.errors import DataError
from arena.report import Report
from arena_suites.bloom_eval import Article, SurveyComparison, SurveyPair, Work, compare
from arena_suites.bloom_eval.metrics.themes import gini, themes_of

FISH, BANKS = "Salmon and trout in cold rivers", "Inflation rates of central banks"
STARS = "Brightness of distant galaxies"
HAS_BERTOPIC = importlib.util.find_spec("bertopic") is not None


def survey(*titles: str) -> Article:
    return Article("T", "", (), tuple(map(Work, titles)), Report("T"))


EXPERTS = survey(*[FISH] * 6, "", *[BANKS] * 4)
GENERATED = survey(*[STARS] * 3, *[FISH] * 3, *[BANKS] * 6)


def scores(human: Article, generated: Article, name: str, **tools: Any) -> dict[str, Any]:
    finding = compare(SurveyPair(human, generated, SurveyComparison(**tools)), [name])[name][
        "finding"
    ]
    return dict(finding.scores)


def test_themes_are_groups_of_like_references_the_largest_first() -> None:
    pair = SurveyPair(EXPERTS, GENERATED)
    assert [theme.works for theme in themes_of(pair, "human")] == [
        (0, 1, 2, 3, 4, 5),
        (7, 8, 9, 10),  # the reference without a title has no theme
    ]
    banks, stars, fish = themes_of(pair, "generated")
    assert (len(banks.works), stars.works, fish.works) == (6, (0, 1, 2), (3, 4, 5))
    assert banks.label == "banks, central, inflation, rates" and banks.central == BANKS


def test_balance_is_one_less_gini() -> None:
    # sizes 6, 3, 3: the sum over ordered pairs is 4 x 3 = 12, divided by 2 x 3 x 12
    assert gini([6, 3, 3]) == pytest.approx(1 / 6)
    assert scores(EXPERTS, GENERATED, "tbal") == {"": pytest.approx(5 / 6)}


@pytest.mark.parametrize(
    ("titles", "expected"),
    [([FISH] * 4, 0.0), ([], 0.0), ([FISH] * 5, 1.0), ([FISH] * 6 + [BANKS] * 6, 1.0)],
)
def test_few_references_one_theme_and_equal_themes(titles: list[str], expected: float) -> None:
    assert scores(EXPERTS, survey(*titles), "tbal") == {"": expected}


# Two shared themes of the experts' two and the generated three; the sizes that are shared are
# (6, 4) and (3, 6): shares (3, 2)/5 and (1, 2)/3, variation 4/15, Hellinger 0.1908, JSD/ln 2 0.0522
SHARED = {
    "f1": 0.8,
    "precision": pytest.approx(2 / 3),
    "recall": 1.0,
    "ds": pytest.approx(1 - (4 / 15 + 0.1908 + 0.0522) / 3, abs=1e-4),
}


def test_themes_pair_by_their_centres() -> None:
    assert scores(EXPERTS, GENERATED, "tfsim") == SHARED
    assert set(scores(EXPERTS, EXPERTS, "tfsim").values()) == {1.0}


def test_a_judge_pairs_themes_by_their_words(make_client) -> None:
    fish, banks = "cold, rivers, salmon, trout", "banks, central, inflation, rates"
    pairs = [{"expert_topic": each, "llm_topic": each} for each in (fish, banks, banks)]
    with LLMServer(lambda _: json.dumps({"matched_pairs": pairs})) as server:
        judge = make_client(server)
        assert scores(EXPERTS, GENERATED, "tfsim", matcher="judge", judge=judge) == SHARED


def test_officially_a_theme_may_be_in_several_pairs(make_client) -> None:
    """Generated themes in a pair: 2 of 3; experts' in none: 1. Fish has 6 here, 3 and 3 there."""
    fish, stars = "cold, rivers, salmon, trout", "brightness, distant, galaxies"
    pairs = [{"expert_topic": fish, "llm_topic": each} for each in (fish, stars)]
    with LLMServer(lambda _: json.dumps({"matched_pairs": pairs})) as server:
        judged = {"matcher": "judge", "judge": make_client(server)}
        official = scores(EXPERTS, GENERATED, "tfsim", official=True, **judged)
        once = scores(EXPERTS, GENERATED, "tfsim", **judged)
    assert official == dict.fromkeys(("f1", "precision", "recall"), 2 / 3) | {"ds": 1.0}
    assert once == {"f1": 0.4, "precision": 1 / 3, "recall": 0.5, "ds": 1.0}
    # By embedding every pair counts that is alike enough: here the same two as before.
    assert scores(EXPERTS, GENERATED, "tfsim", official=True) == SHARED


def test_without_a_shared_theme_everything_is_0() -> None:
    nothing = {"f1": 0.0, "precision": 0.0, "recall": 0.0, "ds": 0.0}
    assert scores(EXPERTS, survey(*[STARS] * 5), "tfsim") == nothing
    assert scores(EXPERTS, survey(), "tfsim") == nothing
    assert set(scores(survey(FISH), EXPERTS, "tfsim").values()) == {None}


@pytest.mark.skipif(HAS_BERTOPIC, reason="bertopic is installed")
def test_an_absent_package_is_named() -> None:
    with pytest.raises(DataError, match=r"pip install 'researcharena\[bertopic\]'"):
        scores(EXPERTS, GENERATED, "tbal", clusters="bertopic")


@pytest.mark.skipif(not HAS_BERTOPIC, reason="needs the extra bertopic")
def test_bertopic_groups_references_and_repeats_itself() -> None:
    titles = [f"{title}, part {i}" for i in range(20) for title in (FISH, BANKS, STARS)]
    article = survey()._replace(works=tuple(Work(title, title) for title in titles))
    found = [
        [
            theme.works
            for theme in themes_of(
                SurveyPair(EXPERTS, article, SurveyComparison(clusters="bertopic")), "generated"
            )
        ]
        for _ in range(2)
    ]
    assert found[0] == found[1]
    assert all(len({place % 3 for place in works}) == 1 for works in found[0])
    few = article._replace(works=article.works[:5])
    few = scores(EXPERTS, few, "tbal", clusters="bertopic")[""]
    assert few is None or 0 <= few <= 1
