"""The report card: what agents and hacks earn, and that each fault of a reward is found."""

from __future__ import annotations

import json

import pytest

import arena.cli
from arena.corpus import Corpus
from arena.corpus.view import CorpusView
from arena.rewards import REWARDS
from arena.testing import AuditReport
from arena_integrations._report_card import QUESTION, report_card

DISCOVERY = ["arena/Discovery-v0"]


def made(synthetic, **options):
    card = report_card(Corpus.open(synthetic), AuditReport(), DISCOVERY, topics=2, **options)
    (task,) = card["tasks"]
    return card, task, {row["reward"]: row for row in task["rewards"]}


def failed(part):
    return {check["check_id"] for check in part["checks"] if check["status"] == "fail"}


@pytest.fixture(scope="module")
def card(synthetic):
    return made(synthetic)


def test_the_labels_earn_all_and_nothing_earns_nothing(card):
    _, task, rewards = card
    assert set(rewards) == {"final", "gain", "shaped", "ranker"}
    for reward in ("final", "gain", "shaped"):
        mean = rewards[reward]["mean"]
        assert (mean["oracle"], mean["empty"], mean["copy"]) == (1, 0, 0)
    assert 0 < task["metrics"]["random"] < task["metrics"]["title"] < task["metrics"]["scout"] < 1
    assert rewards["ranker"]["label"] == "ranker (not a metric)"
    assert rewards["final"]["mean"] == pytest.approx(task["metrics"])
    assert task["topics"] == 2 and not failed(task)


def test_the_first_line_says_what_a_model_should_score(card):
    whole, task, _ = card
    assert QUESTION == "How hard is this, and what should my model score?"
    (answer,) = whole["answers"]
    for name in ("random", "title", "oracle"):
        assert f"{task['metrics'][name]:.3f}" in answer


def test_a_reward_that_pays_everyone_fails(synthetic, monkeypatch):
    final = REWARDS.get("final")
    monkeypatch.setattr(final, "terms", lambda self, progress: {"final": float(progress.over)})
    _, _, rewards = made(synthetic)
    assert failed(rewards["final"]) == {
        "semantic.floor_gap", "statistical.headroom", "arena.unequal_rewards",
        "statistical.training_signal", "statistical.gameability_gap",
    }  # fmt: skip
    assert "semantic.floor_gap" not in failed(rewards["gain"])


def test_words_of_later_papers_are_found(synthetic, monkeypatch):
    real = CorpusView.__init__

    def later(self, store, day, *rest):
        real(self, store, day + 3_000, *rest)

    monkeypatch.setattr(CorpusView, "__init__", later)
    _, task, _ = made(synthetic)
    assert failed(task) == {"arena.canary_words"}


def test_what_an_audit_has_found_has_the_ids_of_openenv(synthetic):
    audited = AuditReport()
    audited.add("leak.paper", "", "", "")
    audited.add("contract.no-gold", "", "", "")
    card = report_card(Corpus.open(synthetic), audited, DISCOVERY, topics=1)
    assert failed(card) == {"semantic.no_solution_leakage", "runtime.oracle_containment"}


def test_the_command_writes_a_page_and_json(tiny, tmp_path, capsys):
    page = tmp_path / "card.html"
    arena.cli.main(
        ["report-card", *DISCOVERY, "--corpus", str(tiny), "--actions", "0", "--output", str(page)]
    )
    out = capsys.readouterr().out
    assert QUESTION in out and "ranker (not a metric)" in out
    assert page.read_text().index(QUESTION) < page.read_text().index("recall@100")
    card = json.loads(page.with_suffix(".json").read_text())
    assert [task["task"] for task in card["tasks"]] == ["discovery"]
