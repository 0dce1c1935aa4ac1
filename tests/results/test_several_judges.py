"""Several judges of the same topics: means, directions and correlations by hand."""

from __future__ import annotations

import json

import pytest

from arena.cli import main
from arena_suites.judging.agreement import compare_judges

LARGE = {"a": 0.6, "b": 0.5, "c": 0.4, "d": 0.9, "only": 0.1}
SMALL = {"a": 0.7, "b": 0.3, "c": 0.2, "d": 0.8}
PEOPLE = {"a": 3, "b": 4, "c": 2, "d": 1}


def test_numbers_by_hand():
    found = compare_judges({"large": LARGE, "small": SMALL, "people": PEOPLE}, parity=0.5)
    assert found["topics"] == 4
    # Mean .6, deviations 0 -.1 -.2 .3: variance .14 / 3. Of small .5, .2 -.2 -.3 .3: .26 / 3.
    assert found["judges"]["large"] == {
        "mean": pytest.approx(0.6), "sd": pytest.approx((0.14 / 3) ** 0.5), "above": 0.75
    }  # fmt: skip
    assert found["judges"]["small"]["above"] == 0.5
    first, second, third = found["pairs"]
    assert first["judges"] == ["large", "small"]
    assert first["direction"] == 0.75  # b: .5 is on the upper side, .3 is not
    # Products 0 + .02 + .06 + .09; both rank the topics c b a d.
    assert first["pearson"] == pytest.approx(0.17 / (0.14 * 0.26) ** 0.5)
    assert first["spearman"] == pytest.approx(1)
    # Ranks 3 2 1 4 and 3 4 2 1: differences 0 2 1 3, so 1 - 6 * 14 / (4 * 15).
    assert second["spearman"] == pytest.approx(-0.4)
    assert third["direction"] == 0.5


def test_equal_scores_have_no_correlation():
    (pair,) = compare_judges({"a": LARGE, "b": dict.fromkeys(LARGE, 0.5)}, parity=0.5)["pairs"]
    assert (pair["pearson"], pair["spearman"]) == (None, None)


def test_files_of_a_suite_and_of_people(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    topics = {topic: {"fap": score, "roq": None} for topic, score in LARGE.items()}
    (tmp_path / "large.json").write_text(json.dumps({"topics": topics, "mean": {}}))
    (tmp_path / "people.json").write_text(json.dumps({t: {"fap": s} for t, s in PEOPLE.items()}))
    (tmp_path / "bad.json").write_text("[1]")
    command = ["judge", "compare", "large=large.json", "people.json", "--metric"]
    assert main([*command, "fap", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == compare_judges({"large": LARGE, "people.json": PEOPLE}, 0.5)
    assert main([*command, "fap"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["4", "topics", "mean", "sd", "at", "least", "0.5"]
    assert lines[-1].split()[:3] == ["large", "and", "people.json"]
    for words, said in {
        ("fapp",): "Did you mean 'fap'",
        ("roq",): "'large.json' has no score 'roq'",
        ("fap", "bad.json"): "'bad.json' has no scores of topics",
    }.items():
        assert main(["judge", "compare", "large.json", *words[1:], "--metric", words[0]]) == 2
        assert said in capsys.readouterr().err
