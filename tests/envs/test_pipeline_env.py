"""The environment Topic: three stages in one episode."""

from __future__ import annotations

import json

import pytest
from helpers import act, arena_topics, call, gold_of, make_env, playing, result, within_reach

NAME = "arena/Pipeline-v0"
TREE = {"label": "Dense", "children": ["Rhenium"]}


def test_a_whole_topic(mini):
    """By hand: the gold of sv:1 is p:leap (influential), p:day, 12345 and p:last."""
    env = make_env(mini, NAME, reward="final")
    observation, _ = env.reset(options={"topic_id": "sv:1"})
    assert observation["stage"] == "discovery"
    told = json.loads(observation["result"])
    assert list(told) == ["message"]
    assert told["message"].startswith("Prepare a survey of this topic in three stages. Find the")

    step = env.step(call("submit", paper_ids=["p:old", "p:day"]))
    assert (step[0]["stage"], step[1:4]) == ("selection", (0.0, False, False))
    told = result(step)
    assert (told["submitted"], told["stage"]) == (2, "selection")
    assert told["message"].startswith("Rank the papers that matter")
    assert set(step[4]) == {"topic_id", "reward_terms", "gain"}  # no score before the end

    step = env.step(call("submit", paper_ids=["p:old", "p:leap"]))
    assert (step[0]["stage"], step[1:4]) == ("organization", (0.0, False, False))
    assert result(step)["message"].startswith("Draw a mind-map")

    step = env.step(call("organize", mind_map=TREE))
    assert result(step)["organized"] == 1
    assert step[2:4] == (True, False)
    found = step[4]["metrics"]
    assert found["recall@100"] == 1 / 4
    assert found["mrr"] == 1 / 2
    assert found["heading_soft_recall"] == pytest.approx(1.0)
    mean = (found["recall@100"] + found["ndcg@100"] + found["heading_soft_recall"]) / 3
    assert step[1] == found["pipeline_score"] == pytest.approx(mean)
    answers = step[4]["answers"]
    assert list(answers) == ["discovery", "selection", "organization"]
    assert answers["discovery"] == ["p:old", "p:day"]
    assert answers["selection"] == ["p:old", "p:leap"]
    assert answers["organization"]["label"] == "Dense"


def test_each_stage_wants_its_own(mini):
    env = playing(mini, "sv:1", NAME)
    for stage in ("discovery", "selection"):
        wrong = act(env, "organize", mind_map=TREE)["error"]
        assert wrong == f"this is the stage {stage}: submit with submit(paper_ids)."
        act(env, "submit", paper_ids=["p:day"])
    step = env.step(call("submit", paper_ids=["p:old"]))
    assert result(step)["error"] == (
        "this is the stage organization: submit with organize(mind_map)."
    )
    assert step[0]["stage"] == "organization"
    step = env.step(call("organize", mind_map=TREE))
    assert step[4]["answers"]["discovery"] == step[4]["answers"]["selection"] == ["p:day"]


def test_selected_papers_and_budgets_go_along(mini):
    env = playing(mini, "sv:1", NAME, max_searches=2)
    act(env, "search", query="index")
    act(env, "select", paper_ids=["p:leap"])
    act(env, "submit", paper_ids=["p:day"])
    step = env.step(call("search", query="index"))
    assert step[0]["budget"]["searches"] == 0
    assert step[0]["budget"]["steps"] == 96
    step = env.step(call("finish"))
    assert result(step) == {"submitted": 1}
    assert step[2:4] == (True, False)
    assert step[4]["answers"] == {"discovery": ["p:day"], "selection": ["p:leap"]}
    found = step[4]["metrics"]
    assert found["heading_soft_recall"] == 0.0
    assert found["pipeline_score"] == pytest.approx((1 / 4 + found["ndcg@100"]) / 3)


@pytest.mark.parametrize("submitted", [0, 1, 2])
def test_cut_off_in_any_stage_what_was_submitted_counts(mini, submitted):
    env = playing(mini, "sv:1", NAME, max_searches=0, reward="final")
    for _ in range(submitted):
        act(env, "submit", paper_ids=["p:leap"])
    step = env.step(call("search", query="index"))
    assert step[2:4] == (False, True)
    assert len(step[4]["answers"]) == submitted
    found = step[4]["metrics"]
    assert (found["recall@100"] == 1 / 4) == (submitted >= 1)
    assert (found["mrr"] == 1.0) == (submitted == 2)
    assert step[1] == found["pipeline_score"]
    assert (step[1] > 0) == (submitted > 0)


def test_finish_in_the_last_stage_submits_no_map(mini):
    env = playing(mini, "sv:1", NAME)
    for _ in range(2):
        act(env, "submit", paper_ids=["p:leap"])
    act(env, "select", paper_ids=["p:day"])
    step = env.step(call("finish"))
    assert result(step) == {"submitted": 0}
    assert list(step[4]["answers"]) == ["discovery", "selection"]


def test_the_default_reward_pays_at_the_end_alone(synthetic):
    topic = sorted(arena_topics(synthetic))[0]
    gold, papers = gold_of(synthetic, topic), within_reach(synthetic, topic)
    env = playing(synthetic, topic, NAME)
    step = env.step(call("read", paper_id=sorted(gold)[0]))
    assert (step[1], step[4]["gain"]) == (0.0, 1 / len(gold))
    for _ in range(2):
        assert env.step(call("submit", paper_ids=papers[:100]))[1] == 0
    step = env.step(call("organize", mind_map=TREE))
    assert step[4]["reward_terms"] == {"final": step[4]["metrics"]["pipeline_score"]}


def test_the_topics_drawn_can_be_scored_in_all_stages(mini):
    env = make_env(mini, NAME)
    assert {env.reset(seed=seed)[1]["topic_id"] for seed in range(30)} == {"sv:1", "sv:2"}
    env.reset(options={"topic_id": "sv:3"})  # neither gold nor a map, and yet playable
    for _ in range(2):
        act(env, "submit", paper_ids=[])
    step = env.step(call("organize", mind_map=TREE))
    assert (step[1], step[2], step[4]["metrics"]) == (0.0, True, {})
