"""Citation Faithfulness, counted by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llm_server import LLMServer

from arena.report import read_report
from arena_suites.bloom_eval import SurveyComparison, SurveyPair, Work, article_of, compare

REPORT = """# T

## A

Trees grow [1; 2]. Fish swim [1, 3]. Pigs fly [2]. Sand is dry [4]. Rain falls [2, 5].

## References

[1] Work one.
[2] Work two.
[3] Work three.
[4] Work four.
[5] Work five.
"""
# Which sets of works support a statement; what is not here gets no readable answer.
VERDICTS: dict[tuple[str, str], bool] = {
    ("Trees grow.", "12"): True, ("Trees grow.", "1"): True, ("Trees grow.", "2"): False,
    ("Fish swim.", "13"): True, ("Fish swim.", "1"): False, ("Fish swim.", "3"): False,
    ("Pigs fly.", "2"): False,
}  # fmt: skip


def script(body: dict[str, Any]) -> str:
    text = body["messages"][0]["content"]
    statement = text.split("<statement>\n")[1].split("\n</statement>")[0]
    works = "".join(n for n in "12345" if f"abstract {n}" in text)
    verdict = VERDICTS.get((statement, works))
    return "Who knows?" if verdict is None else json.dumps({"supported": verdict})


@pytest.fixture
def pair(make_client):
    report = read_report(REPORT)
    article = article_of(
        report,
        REPORT,
        lambda each: Work(f"Work {each.key}", "" if each.key == "4" else f"abstract {each.key}"),
    )

    def make(**tools: Any) -> Any:
        with LLMServer(script) as server:
            pair = SurveyPair(
                article, article, SurveyComparison(judge=make_client(server), **tools)
            )
            return compare(pair, ["cf"])["cf"]

    return make


def test_recall_and_precision(pair) -> None:
    # Supported: trees and fish, not pigs; nothing known of sand (no abstract) and rain (unread).
    # Needed: 1 for the trees, since 1 supports them without 2; both for the fish; not 2 for pigs.
    row = pair(no_abstract="left-out")
    scores = row["finding"].scores
    assert row["finding"].reason == ""
    assert scores["recall"] == 2 / 3
    assert scores["precision"] == 3 / 5
    assert scores["f1"] == pytest.approx(12 / 19)  # 2 * 2/3 * 3/5 / (2/3 + 3/5)
    assert row["failed"] == 1
    rows = row["finding"].rows
    assert ("Trees grow.", "Work 2", "not needed") in rows
    assert ("Sand is dry.", "Work 4", "no abstract") in rows
    assert ("Rain falls.", "Work 5", "failed") in rows


def test_a_work_without_an_abstract_supports_nothing(pair) -> None:
    row = pair()  # sand is one more statement that is not supported, by one more citation
    assert row["finding"].scores == {"recall": 2 / 4, "precision": 3 / 6, "f1": 0.5}
    assert row["finding"].reason == (
        "1 of 6 citations lead to no abstract, and so support nothing."
    )
    assert ("Sand is dry.", "Work 4", "no abstract") in row["finding"].rows


@pytest.mark.parametrize(("options", "expected"), [({}, 0.25), ({"no_abstract": "left-out"}, 1.0)])
def test_four_statements_of_which_one_cites_an_abstract(make_client, options, expected) -> None:
    text = "# T\n\n## A\n\nA is [1]. B is [2]. C is [3]. D is [4].\n\n## References\n\n"
    text += "".join(f"[{n}] Work {n}.\n" for n in range(1, 5))
    article = article_of(
        read_report(text), text, lambda each: Work(each.key, "a" if each.key == "1" else "")
    )
    with LLMServer(lambda body: json.dumps({"supported": True})) as server:
        tools = SurveyComparison(judge=make_client(server), **options)
        row = compare(SurveyPair(article, article, tools), ["cf"])["cf"]
    assert set(row["finding"].scores.values()) == {expected}
    assert row["calls"] == 1


def test_the_released_code_asks_about_each_work_alone(pair) -> None:
    # Trees by 1 alone; fish, pigs and sand by none. Of rain nothing is known: 2 and 5 are unread.
    scores = pair(official=True)["finding"].scores
    assert scores["recall"] == 1 / 4
    assert scores["precision"] == 1 / 6


def test_fewer_statements(pair) -> None:
    assert {row[0] for row in pair(max_statements=2)["finding"].rows} == {
        "Trees grow.",
        "Pigs fly.",
    }


def test_no_readable_answer(make_client) -> None:
    article = article_of(read_report(REPORT), REPORT, lambda each: Work("Title", "Text"))
    with LLMServer(lambda body: "?") as server:
        tools = SurveyComparison(judge=make_client(server))
        row = compare(SurveyPair(article, article, tools), ["cf"])["cf"]
    assert set(row["finding"].scores.values()) == {None} and row["failed"] == 5
