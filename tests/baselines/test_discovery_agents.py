"""zero-shot, decomposer and self-rag in whole runs, with a working and a failing server."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import contents
from llm_server import LLMServer, Trouble
from scripted_agents import episodes, helpful, play, queries_of

pytestmark = pytest.mark.usefixtures("alone")

SURVEYS = 2
# Requests and searches of an episode with the model `helpful`. The second query of self-rag may
# find nothing new to judge.
WORK = {"zero-shot": ({1}, 1), "decomposer": ({1}, 3), "self-rag": ({4, 5}, 2)}
TASKS = ("discovery", "selection", "pipeline")

each_agent = pytest.mark.parametrize("agent", WORK)


def scored(summary, count=SURVEYS):
    assert summary["counts"]["topics"] == summary["counts"]["scored"] == count
    return summary["mean"]


@each_agent
@pytest.mark.parametrize("task", TASKS)
def test_it_plays_and_its_replay_has_the_same_bytes(task, agent, synthetic, tmp_path):
    requests, searches = WORK[agent]
    with LLMServer(helpful) as server:
        mean = scored(play(synthetic, task, agent, "run", server, topics=SURVEYS))
        asked = len(server.requests)
    assert mean["ndcg@100" if task == "selection" else "recall@100"] > 0
    scored(play(synthetic, task, agent, "replay", None, topics=SURVEYS))
    assert contents(Path("run")) == contents(Path("replay"))
    for episode in episodes("run"):
        assert len(queries_of(episode)) == searches
        assert not episode["truncated"]
        assert not any("error" in step for step in episode["steps"])
        notes = episode["notes"]["llm"]
        assert (notes["failed"], notes["stopped"]) == ([], None)
        assert notes["total"]["calls"] in requests
    assert asked == sum(episode["notes"]["llm"]["total"]["calls"] for episode in episodes("run"))


@each_agent
def test_it_organizes_nothing_and_asks_nothing(agent, synthetic):
    with LLMServer(helpful) as server:
        scored(play(synthetic, "organization", agent, "run", server, topics=SURVEYS))
        assert server.requests == []
    for episode in episodes("run"):
        assert [step["action"]["tool"] for step in episode["steps"]] == ["finish"]


LONG = {"message": "This model's maximum context length is 4096 tokens."}
BAD = {
    "a tool nobody offered": {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
        ],
    },
    "the form": "<Queries>\n- ...\n</Queries>",
    "symbols": "\x00\ufffd{{{[[[<<<" * 500,
    "too long": Trouble(400, error=LONG),
    "filtered": Trouble(400, error={"message": "content_filter", "code": "content_filter"}),
}


@each_agent
@pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
def test_without_an_answer_it_is_title(answer, agent, synthetic, title_run):
    with LLMServer(lambda body: answer) as server:
        scored(play(synthetic, "discovery", agent, "run", server, topics=1), 1)
        scored(play(synthetic, "discovery", agent, "replay", None, topics=1), 1)
    assert contents(Path("run")) == contents(Path("replay"))
    titles = {episode["topic_id"]: episode["answers"] for episode in episodes(title_run)}
    for episode in episodes("run"):
        assert episode["answers"] == titles[episode["topic_id"]]
        failed = episode["notes"]["llm"]["failed"]
        # the query, and with it the judgements of what the topic found
        assert len(failed) == (2 if agent == "self-rag" else 1)
        assert all(step["reason"] for step in failed)


@each_agent
@pytest.mark.parametrize("most", range(4))
def test_at_a_limit_the_ranking_so_far_is_submitted(most, agent, synthetic):
    with LLMServer(helpful) as server:
        summary = play(
            synthetic, "pipeline", agent, "run", server, topics=SURVEYS, limits={"max_calls": most}
        )
        assert len(server.requests) == SURVEYS * min(most, *WORK[agent][0])
    mean = scored(summary)
    assert (mean["recall@100"] > 0) == (most > 0)
    for episode in episodes("run"):
        over = most < min(WORK[agent][0])
        assert episode["notes"]["llm"]["stopped"] == ("max_calls" if over else None)
        assert not episode["truncated"]
        assert set(episode["answers"]) >= {"discovery", "selection"}


BUDGETS = [
    ("discovery", {"max_searches": 1}, 1),
    ("discovery", {"max_searches": 0}, 0),
    ("discovery", {"max_steps": 2}, 1),
    ("selection", {"max_steps": 1}, 0),
    ("discovery", {"max_characters": 4000}, 1),
    ("discovery", {"max_characters": 100}, 0),
    ("pipeline", {"max_steps": 4}, 1),
    ("pipeline", {"max_steps": 3}, 0),
]


@each_agent
@pytest.mark.parametrize(("task", "budget", "searches"), BUDGETS)
def test_no_budget_is_too_small_to_submit(task, budget, searches, agent, synthetic):
    with LLMServer(helpful) as server:
        scored(play(synthetic, task, agent, "run", server, topics=1, **budget), 1)
    (episode,) = episodes("run")
    assert not episode["truncated"]
    assert len(queries_of(episode)) == searches
    assert bool(next(iter(episode["answers"].values()))) == bool(searches)
