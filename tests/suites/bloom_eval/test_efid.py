"""Entity Fidelity, counted by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest
from llm_server import LLMServer

from arena.report import read_report
from arena_suites.bloom_eval import Article, SurveyComparison, SurveyPair, article_of, compare

EXPERTS = "# T\n\n## A\n\nNeRF and 3D NeRF differ. NeRF wins by PSNR. BERT and BERT are on MNIST."
GENERATED = "# T\n\n## A\n\nnerf is old. PSNR is high, and PSNR is good. We use Bert."


def survey(text: str) -> Article:
    return article_of(read_report(text), text)


def entities(methods: list[str], data: list[str], measures: list[str]) -> str:
    return json.dumps({"methods_models": methods, "datasets": data, "evaluation_metrics": measures})


def script(body: dict[str, Any]) -> str:
    text = body["messages"][0]["content"]
    if "mean the same thing" in text:
        pair = {"expert_main_name": "3D NeRF", "llm_main_name": "Old NeRF"}
        return json.dumps({"matched_pairs": [pair] * 2 if "Old NeRF" in text else []})
    if "NeRF wins" in text:
        return entities(["NeRF", "3D NeRF", "BERT", "Made up"], ["MNIST"], ["PSNR"])
    return entities(["nerf", "Bert", "nerf"], [], ["PSNR"])


def test_shared_names_and_how_often_the_text_has_them(make_client) -> None:
    with LLMServer(script) as server:
        pair = SurveyPair(
            survey(EXPERTS),
            survey(GENERATED),
            SurveyComparison(matcher="judge", judge=make_client(server)),
        )
        row = compare(pair, ["efid"])["efid"]
    # Experts: NeRF 2 ("3D NeRF" is another), 3D NeRF 1, BERT 2, MNIST 1, PSNR 1. Generated: nerf 1,
    # Bert 1, PSNR 2. Nothing is left of the generated names that the judge could pair.
    scores = row["finding"].scores
    assert scores["precision"] == 1 and scores["recall"] == 3 / 5
    assert scores["f1"] == pytest.approx(3 / 4)
    # Shares (2, 2, 1)/5 and (1, 1, 2)/4: JSD/ln 2, Hellinger sqrt(1 - 3 sqrt(.1)), variation .3.
    assert scores["ds"] == pytest.approx(1 - (0.0731040 + 0.2265320 + 0.3) / 3, abs=1e-6)
    assert ("methods_models", "NeRF", "2", "nerf", "1") in row["finding"].rows
    assert not any("Made up" in each for each in row["finding"].rows)
    assert row["calls"] == 2 and row["failed"] == 0


def test_the_released_code_counts_what_the_model_lists_and_names(make_client) -> None:
    names = {"ViT": "Vision Transformer", "Vision Transformer": "Vision Transformer"}
    both = [("Vision Transformer", "Vision Transformer"), ("ImageNet", "ImageNet")]

    def official(body: dict[str, Any]) -> str:
        text = body["messages"][0]["content"]
        if "best known" in text:
            assert text.count('"ViT"') == 1  # each spelling once
            return json.dumps({"methods_models": names, "datasets": {"ImageNet": "ImageNet"}})
        if "mean the same thing" in text:
            pairs = [{"expert_main_name": a, "llm_main_name": b} for a, b in both]
            return json.dumps([each for each in pairs if each["expert_main_name"] in text])
        if "NeRF wins" in text:
            return entities(["ViT", "ViT", "Vision Transformer", "encoder"], ["ImageNet"], [])
        return entities(["ViT", "Vision Transformer"], ["ImageNet"], [])

    with LLMServer(official) as server:
        tools = SurveyComparison(judge=make_client(server), official=True)
        row = compare(SurveyPair(survey(EXPERTS), survey(GENERATED), tools), ["efid"])["efid"]
    # {Vision Transformer 3, ImageNet 1} and {Vision Transformer 2, ImageNet 1}: two of two
    scores = row["finding"].scores
    assert (scores["f1"], scores["precision"], scores["recall"]) == (1.0, 1.0, 1.0)
    assert ("methods_models", *["Vision Transformer", "3"], *["Vision Transformer", "2"]) in (
        row["finding"].rows
    )


def test_the_released_code_counts_a_repeated_pair(make_client) -> None:
    def official(body: dict[str, Any]) -> str:
        text = body["messages"][0]["content"]
        if "best known" in text:
            return json.dumps({"methods_models": {"A": "A", "B": "B", "a": "a"}})
        if "mean the same thing" in text:
            return json.dumps([{"expert_main_name": "A", "llm_main_name": "a"}] * 2)
        return entities(["A", "A", "B"] if "NeRF wins" in text else ["a"], [], [])

    with LLMServer(official) as server:
        tools = SurveyComparison(judge=make_client(server), official=True)
        row = compare(SurveyPair(survey(EXPERTS), survey(GENERATED), tools), ["efid"])["efid"]
    # The same pair twice: 2 of 2 names of the experts, 2 of 1 generated one.
    assert row["finding"].scores == {
        "f1": pytest.approx(4 / 3), "precision": 2.0, "recall": 1.0, "ds": 1.0
    }  # fmt: skip
