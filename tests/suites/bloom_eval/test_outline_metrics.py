"""Metrics of outlines: values worked out by hand, a recursion, and scripted judges."""

from __future__ import annotations

import json

import numpy as np
import pytest
from helpers import AXES, Axes
from hypothesis import given, settings
from hypothesis import strategies as st
from llm_server import LLMServer, last_text

from arena.report import Report
from arena_suites.bloom_eval import Article, Heading, SurveyComparison, SurveyPair, compare
from arena_suites.bloom_eval.metrics.outline import unnumbered

OUTLINES = ["sts", "scons", "otc", "scs"]


def survey(*outline: tuple[int, str]) -> Article:
    return Article("T", "", tuple(Heading(*each) for each in outline), (), Report("T"))


EXPERTS = survey((0, "Title"), (1, "1 A"), (2, "1.1 B"), (1, "2 C"))


def scores(human: Article, generated: Article, name: str, **tools: object):
    return compare(
        SurveyPair(human, generated, SurveyComparison(**{"encoder": AXES} | tools)), [name]
    )[name]


@pytest.mark.parametrize(
    ("generated", "expected"),
    [
        (survey((0, "Other title"), (1, "I. A"), (2, "A. B"), (1, "II. C")), 1.0),
        (survey((1, "A"), (2, "B")), 1 - 1 / 5),  # without C
        (survey((1, "A"), (2, "B"), (1, "B")), 1 - 0.2 / 6),  # B for C: 1 - 0.8
        (survey((1, "A"), (4, "B"), (1, "C")), 1.0),  # what a level leaves out does not count
        (survey((0, "Title")), 0.0),
    ],
)
def test_tree_similarity(generated, expected):
    assert scores(EXPERTS, generated, "sts")["finding"].scores == {"": pytest.approx(expected)}


def test_the_released_code_embeds_headings_with_their_case():
    axes = Axes(a=(1, 0), A=(0.6, 0.8), T=(0, 1))
    one, other = survey((0, "T"), (1, "2 Ab")), survey((0, "T"), (1, "3 ab"))
    for official, expected in ((True, 1 - (1 - 0.6) / 4), (False, 1.0)):
        found = scores(one, other, "sts", encoder=axes, official=official)["finding"].scores
        assert found == {"": pytest.approx(expected)}


def test_the_released_trees_begin_again_where_a_level_is_missing():
    """Levels 1 and 3 without 2: the second heading is no child of the first."""
    one, other = survey((0, "c"), (1, "a"), (3, "b")), survey((0, "c"), (1, "a"), (2, "b"))
    # three headings each; title and section are two levels, and there are three of the other
    found = scores(one, other, "scons", official=True)["finding"]
    assert found.rows == [("human", "2", "3"), ("generated", "3", "3")]
    assert found.scores == {"": pytest.approx(np.sqrt(2 / 3))}
    assert scores(one, other, "sts")["finding"].scores == {"": 1.0}
    # b is taken from the top, and put below a: two steps of six
    assert scores(one, other, "sts", official=True)["finding"].scores == {
        "": pytest.approx(1 - 2 / 6)
    }


def test_a_heading_of_the_opposite_meaning_costs_two():
    one = survey((1, "A"))
    assert scores(one, survey((1, "D")), "sts")["finding"].scores == {"": 0.0}
    assert scores(one, survey((1, "B")), "sts")["finding"].scores == {"": 0.5}


TEXT = st.text(st.sampled_from("abcdefg hABC1.é"), max_size=8).filter(lambda x: unnumbered(x))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), TEXT), min_size=1, max_size=8,
                unique_by=lambda each: unnumbered(each[1]).lower()))  # fmt: skip
def test_a_survey_beside_itself(outline):
    one = survey((0, "Title"), *outline)
    for name, row in compare(SurveyPair(one, one), ["sts", "scons", "otc"]).items():
        assert set(row["finding"].scores.values()) == {1.0}, name


def test_without_an_outline():
    for name, row in compare(SurveyPair(survey((0, "T")), EXPERTS), ["sts", "otc"]).items():
        assert set(row["finding"].scores.values()) == {None}, name
        assert row["finding"].reason == "the experts' survey has no outline."
    for name, row in compare(SurveyPair(EXPERTS, survey((0, "T"))), OUTLINES).items():
        assert set(row["finding"].scores.values()) == {0.0}, name


def test_topic_coverage_by_embeddings():
    # c is nearer to b than to a; d and the second a have no partner, the blank one is not a heading
    generated = survey((1, "1 c"), (1, "2 d"), (1, "3"), (1, "4 a"), (1, "5 A1"))
    finding = scores(survey((1, "a"), (1, "b")), generated, "otc")["finding"]
    assert finding.scores == {"f1": pytest.approx(4 / 6), "precision": 0.5, "recall": 1.0}
    assert finding.rows == [("a", "a"), ("b", "c"), ("", "d"), ("", "A1")]


def judged(make_client, server, human, generated, name, **tools):
    return scores(
        human, generated, name, matcher="judge", judge=make_client(server, mode="live"), **tools
    )


def test_topic_coverage_by_a_judge(make_client):
    def pair(expert, llm):
        return {"expert_heading": expert, "llm_heading": llm}

    answer = {"matched_pairs": [pair("A", "x"), pair("a", "Y"), pair("C", "?"), pair("b", " X")]}
    generated = survey((0, "Other"), (1, "1 X"), (1, "2 Y"))
    with LLMServer([json.dumps(answer)]) as server:
        row = judged(make_client, server, EXPERTS, generated, "otc")
    # A with X counts; A with Y and B with X are second pairs of A and of X, "?" is not a heading
    assert row["finding"].scores == pytest.approx({"f1": 0.4, "precision": 0.5, "recall": 1 / 3})
    assert row["finding"].rows == [("A", "X"), ("B", ""), ("C", ""), ("", "Y")]
    assert row["calls"] == 1
    text = last_text(server.requests[0])
    assert '["A", "B", "C"]' in text and '["X", "Y"]' in text


def test_the_released_topic_coverage_lets_a_heading_be_in_several_pairs(make_client):
    experts = survey((0, "T"), (1, "1 Methods"), (1, "2 Graphs"), (1, "3 Evaluation"))
    generated = survey(
        (0, "T"), (1, "Sparse methods"), (1, "Dense methods"), (1, "Measures"), (1, "Outlook")
    )
    named = [("T", "T"), ("Methods", "Sparse methods"), ("Methods", "Dense methods"),
             ("Evaluation", "Measures")]  # fmt: skip
    pairs = [{"expert_heading": a, "llm_heading": b} for a, b in named]
    with LLMServer([json.dumps({"matched_pairs": pairs})] * 2) as server:
        found = judged(make_client, server, experts, generated, "otc", official=True)["finding"]
        ours = judged(make_client, server, experts, generated, "otc")["finding"]
    # 4 of 5 generated headings have a partner, and 3 of the experts' 4
    f1 = 2 * 0.8 * 0.75 / (0.8 + 0.75)
    assert found.scores == pytest.approx({"precision": 0.8, "recall": 0.75, "f1": f1})
    # one-to-one without the titles: Methods with Sparse methods, Evaluation with Measures
    assert ours.scores == pytest.approx({"precision": 2 / 4, "recall": 2 / 3, "f1": 4 / 7})
    axes = Axes(a=(1, 0), b=(0.8, 0.6), c=(0, 1))  # b is near to both
    one, other = survey((1, "a"), (1, "c")), survey((1, "b"))
    found = scores(one, other, "otc", encoder=axes, official=True)["finding"]
    assert found.scores == {"precision": 1.0, "recall": 1.0, "f1": 1.0}


def test_a_judge_pairs_headings_of_one_text_in_turn(make_client):
    outline = survey((1, "A"), (2, "Summary"), (1, "B"), (2, "Summary"))
    pairs = [{"expert_heading": x, "llm_heading": x} for x in ("A", "Summary", "B", "Summary")]
    with LLMServer([json.dumps({"matched_pairs": pairs})]) as server:
        row = judged(make_client, server, outline, outline, "otc")
    assert row["finding"].scores["f1"] == 1.0


# The same in three places: 1, 2.1 and 3.1; and two siblings that are alike.
CLARITY = survey(
    (0, "Title"), (1, "1 Foo"), (1, "2 Bar"), (2, "2.1 foo"), (1, "3 Soup"), (2, "3.1 Foo"),
    (2, "3.2 bread"), (2, "3.3 Bread"), (1, "4"),
)  # fmt: skip


def test_clarity_by_embeddings():
    def clarity(generated, official=False):
        return compare(
            SurveyPair(EXPERTS, generated, SurveyComparison(official=official)), ["scs"]
        )["scs"]["finding"]

    finding = clarity(CLARITY)
    assert finding.scores == {"": pytest.approx(1 - 3 / 7)}
    assert finding.rows == [
        ("Foo", "T", "foo", "Bar"), ("Foo", "T", "Foo", "Soup"), ("foo", "Bar", "Foo", "Soup")
    ]  # fmt: skip
    # the title and the heading without a text are two more
    assert clarity(CLARITY, official=True).scores == {"": pytest.approx(1 - 3 / 9)}
    three = survey(*(each for text in "ABC" for each in ((1, text), (2, "Foo"))))
    assert clarity(three).scores == {"": 0.5}
    deep = survey(*((level, "Foo") for level in range(1, 6)))
    assert clarity(deep).scores == {"": -1.0}  # ten pairs of five headings
    # the first has no heading above it, so that it is in no pair
    assert clarity(deep, official=True).scores == {"": pytest.approx(1 - 6 / 5)}


def test_clarity_by_a_judge(make_client):
    def pair(one, other):
        return {"heading_1": one, "heading_2": other}

    pairs = [pair("Bar", "2.1 FOO"), pair("bread", "Bread"), pair("Bar", "foo"), pair("Bar", "?")]
    pairs.append(pair("Soup", "Soup"))  # stands in one place only
    answers = [json.dumps({"redundant_pairs": pairs})]
    with LLMServer(answers * 2) as server:
        row = judged(make_client, server, EXPERTS, CLARITY, "scs")
        official = judged(make_client, server, EXPERTS, CLARITY, "scs", official=True)
    # "Foo" stands in three places, two of them apart from "Bar": two pairs
    assert row["finding"].scores == {"": pytest.approx(1 - 2 / 7)}
    # pairs as named: Bar and Foo twice; the two of bread are siblings
    assert official["finding"].scores == {"": pytest.approx(1 - 2 / 9)}
    text = last_text(server.requests[0])
    assert "- Bar\n  - foo\n- Soup\n  - Foo\n" in text and "Title" not in text


@pytest.mark.parametrize("name", ["otc", "scs"])
def test_no_pairs_are_an_answer_and_nonsense_is_a_missing_one(make_client, name):
    key = {"otc": "matched_pairs", "scs": "redundant_pairs"}[name]
    with LLMServer([json.dumps({key: []})]) as server:
        row = judged(make_client, server, EXPERTS, EXPERTS, name)
    assert set(row["finding"].scores.values()) == {{"otc": 0.0, "scs": 1.0}[name]}
    for answer in ("They are alike.", '{"pairs": "none"}', f'{{"{key}": [{{"x": "A"}}]}}'):
        with LLMServer(lambda body, answer=answer: answer) as server:
            row = judged(make_client, server, EXPERTS, EXPERTS, name)
        assert set(row["finding"].scores.values()) == {None}
        assert row["finding"].reason and row["failed"] == 1
