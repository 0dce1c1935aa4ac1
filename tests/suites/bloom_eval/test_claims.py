"""Factual Consistency and Critical Analysis Alignment, counted by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llm_server import LLMServer

from arena.report import read_report
from arena_suites.bloom_eval import Article, SurveyComparison, SurveyPair, article_of, compare

EXPERTS = "# T\n\n## A\n\nTrees have no cycles. Paths have two ends. Planar maps need four colours."
GENERATED = "# T\n\n## A\n\nA tree is free of cycles. Pigs fly."
FACTS = ["Trees have no cycles.", "Paths have two ends.", "paths have two ends.", "Maps are round."]
CLAIMS = ["A tree is free of cycles.", "Pigs fly."]


def survey(text: str) -> Article:
    return article_of(read_report(text), text)


def judge(facts: Any, claims: Any, pairs: Any) -> Any:
    def script(body: dict[str, Any]) -> str:
        text = body["messages"][0]["content"]
        if "Two surveys" in text:
            return json.dumps(pairs)
        answer = facts if "Planar" in text else claims
        return answer if isinstance(answer, str) else json.dumps(answer)

    return script


def score(make_client: Any, script: Any, metric: str = "fcons", **tools: Any) -> Any:
    with LLMServer(script) as server:
        tools = {"matcher": "judge", **tools, "judge": make_client(server)}
        row = compare(
            SurveyPair(survey(EXPERTS), survey(GENERATED), SurveyComparison(**tools)), [metric]
        )[metric]
        return row, server.requests


def pairs_of(expert: str, llm: str) -> list[dict[str, str]]:
    pairs = [(FACTS[0], CLAIMS[0]), (FACTS[0], CLAIMS[1]), (FACTS[0], CLAIMS[0]), ("?", CLAIMS[1])]
    return [{expert: a, llm: b} for a, b in pairs]


NAMES = {
    "fcons": ("factual_statements", "matched_pairs", "expert_factual_claims", "llm_factual_claims"),
    "caa": (
        "critical_statements", "matched_critical_pairs", "expert_critical_statement",
        "llm_critical_statement",
    ),
}  # fmt: skip


@pytest.mark.parametrize("metric", ["fcons", "caa"])
@pytest.mark.parametrize("official", [False, True])
def test_repeated_pairs_count_once(make_client, metric: str, official: bool) -> None:
    key, matched, expert, llm = NAMES[metric]
    script = judge({key: FACTS}, {key: CLAIMS}, {matched: pairs_of(expert, llm)})
    row, _ = score(make_client, script, metric, official=official)
    # 3 distinct facts, 2 claims; 1 pair of each, or the 3 known pairs of the released code, whose
    # false positives are 2 - 3.
    wanted = (6 / 5, 3 / 2, 1.0) if official else (2 / 5, 1 / 2, 1 / 3)
    assert row["finding"].scores == dict(zip(("f1", "precision", "recall"), wanted, strict=True))
    assert row["finding"].rows[0] == (FACTS[0], CLAIMS[0], "yes, yes")
    assert ("Maps are round.", "", "no") in row["finding"].rows
    assert row["calls"] == 3


def test_an_unreadable_answer_is_no_zero(make_client) -> None:
    row, _ = score(make_client, judge("Sorry.", {"factual_statements": CLAIMS}, []))
    assert set(row["finding"].scores.values()) == {None}
    assert "human survey" in row["finding"].reason
    assert (row["calls"], row["failed"]) == (3, 1)


@pytest.mark.parametrize(("facts", "claims", "wanted"), [(FACTS, [], 0.0), ([], CLAIMS, None)])
def test_empty_lists(make_client, facts: list[str], claims: list[str], wanted: Any) -> None:
    script = judge({"factual_statements": facts}, {"factual_statements": claims}, [])
    row, _ = score(make_client, script)
    assert set(row["finding"].scores.values()) == {wanted}
    assert bool(row["finding"].reason) == (wanted is None)
