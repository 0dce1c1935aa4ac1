"""zero-shot, decomposer and self-rag in whole runs, with a working and a failing server."""

from __future__ import annotations

from pathlib import Path

import pytest
from helpers import run_contents
from llm_server import LLMServer, Trouble, last_text
from scripted_agents import bullets, episodes, helpful, play, queries_of

pytestmark = pytest.mark.usefixtures("alone")

SURVEYS = 2
# Requests and searches of an episode with the model `helpful`. The second query of self-rag may
# find nothing new to judge.
WORK = {"zero-shot": ({1}, 1), "decomposer": ({1}, 3), "self-rag": ({4, 5}, 2)}
TASKS = ("discovery", "selection", "survey")

each_agent = pytest.mark.parametrize("agent", WORK)


def scored(summary, count=SURVEYS):
    assert summary["counts"]["surveys"] == summary["counts"]["scored"] == count
    return summary["mean"]


@each_agent
@pytest.mark.parametrize("task", TASKS)
def test_it_plays_and_its_replay_has_the_same_bytes(task, agent, world, tmp_path):
    requests, searches = WORK[agent]
    with LLMServer(helpful) as server:
        mean = scored(play(world, task, agent, "run", server, surveys=SURVEYS))
        asked = len(server.requests)
    assert mean["ndcg@100" if task == "selection" else "recall@100"] > 0
    scored(play(world, task, agent, "replay", None, surveys=SURVEYS))
    assert run_contents(Path("run")) == run_contents(Path("replay"))
    for episode in episodes("run"):
        assert len(queries_of(episode)) == searches
        assert not episode["truncated"]
        assert not any("error" in step for step in episode["steps"])
        notes = episode["notes"]["llm"]
        assert (notes["failed"], notes["stopped"]) == ([], None)
        assert notes["total"]["calls"] in requests
    assert asked == sum(episode["notes"]["llm"]["total"]["calls"] for episode in episodes("run"))


@each_agent
def test_it_organizes_nothing_and_asks_nothing(agent, world):
    with LLMServer(helpful) as server:
        scored(play(world, "organization", agent, "run", server, surveys=SURVEYS))
        assert server.requests == []
    for episode in episodes("run"):
        assert [step["action"]["tool"] for step in episode["steps"]] == ["finish"]


LONG = {"message": "This model's maximum context length is 4096 tokens."}
BAD = {
    "nothing": "",
    "no content": {"role": "assistant", "content": None},
    "a tool nobody offered": {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "search", "arguments": "{}"}}
        ],
    },
    "an empty tag": "<Queries>\n</Queries>",
    "the form": "<Queries>\n- ...\n</Queries>",
    "symbols": "\x00\ufffd{{{[[[<<<" * 500,
    "too long": Trouble(400, error=LONG),
    "filtered": Trouble(400, error={"message": "content_filter", "code": "content_filter"}),
}


@each_agent
@pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
def test_without_an_answer_it_is_title(answer, agent, world, title_run):
    with LLMServer(lambda body: answer) as server:
        scored(play(world, "discovery", agent, "run", server, surveys=1), 1)
        scored(play(world, "discovery", agent, "replay", None, surveys=1), 1)
    assert run_contents(Path("run")) == run_contents(Path("replay"))
    titles = {episode["survey"]: episode["answers"] for episode in episodes(title_run)}
    for episode in episodes("run"):
        assert episode["answers"] == titles[episode["survey"]]
        failed = episode["notes"]["llm"]["failed"]
        # the query, and with it the judgements of what the topic found
        assert len(failed) == (2 if agent == "self-rag" else 1)
        assert all(step["reason"] for step in failed)


POOR = {
    "prose": "I would rather not. As a language model I cannot search.",
    "cut off": "<Queries>\n- graph models\n- mol",
    "one word without end": "no " * 20_000,
    "a wall": "x" * 300_000,
    "all tokens": "[No Retrieve][Retrieve] 1. [Relevant][Irrelevant] [Enough][Continue] <Queries>",
}


@each_agent
@pytest.mark.parametrize("answer", POOR.values(), ids=POOR)
def test_with_a_poor_answer_it_goes_on(answer, agent, world):
    with LLMServer(lambda body: answer) as server:
        scored(play(world, "discovery", agent, "run", server, surveys=1), 1)
        scored(play(world, "discovery", agent, "replay", None, surveys=1), 1)
    assert run_contents(Path("run")) == run_contents(Path("replay"))
    assert not any(episode["truncated"] for episode in episodes("run"))


@pytest.mark.parametrize("broken", ["query", "judge", "refine"])
def test_any_step_of_self_rag_may_be_refused(broken, world):
    """Each as the prompt that grew too long for the model."""
    marks = {"query": "[Retrieve]", "judge": "[Relevant]", "refine": "[Enough]"}

    def script(body):
        refused = marks[broken] in last_text(body)
        return Trouble(400, error=LONG) if refused else helpful(body)

    with LLMServer(script) as server:
        mean = scored(play(world, "discovery", "self-rag", "run", server, surveys=SURVEYS))
    assert mean["recall@100"] > 0
    for episode in episodes("run"):
        (failed,) = episode["notes"]["llm"]["failed"]
        assert "context length" in failed["reason"]
        assert len(queries_of(episode)) == (2 if broken == "query" else 1)


PASSING = {
    "429": Trouble(429, headers={"Retry-After": "0"}),
    "500": Trouble(500),
    "cut off": Trouble(200, b'{"choices": [{', announced=5000),
    "slow": Trouble(slow=30),
}


@pytest.fixture(scope="module")
def plain(world, tmp_path_factory):
    """The run of each agent with a server that is well."""
    directory = tmp_path_factory.mktemp("plain")
    for agent in WORK:
        with LLMServer(helpful) as server:
            output, store = directory / agent, str(directory / f"{agent}.jsonl")
            play(world, "discovery", agent, output, server, surveys=1, store=store)
    return directory


@each_agent
@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("trouble", PASSING.values(), ids=PASSING)
def test_a_trouble_that_passes_changes_nothing(trouble, agent, world, plain):
    def script(body):
        return trouble if len(server.requests) == 1 else helpful(body)

    with LLMServer(script) as server:
        options = {"timeout": 0.7} if trouble.slow else {}
        play(world, "discovery", agent, "run", server, surveys=1, **options)
        assert server.requests[0] == server.requests[1]
        assert len(server.requests) > min(WORK[agent][0])
    assert run_contents(Path("run")) == run_contents(plain / agent)


@each_agent
@pytest.mark.parametrize("most", range(4))
def test_at_a_limit_the_ranking_so_far_is_submitted(most, agent, world):
    with LLMServer(helpful) as server:
        summary = play(
            world, "survey", agent, "run", server, surveys=SURVEYS, limits={"max_calls": most}
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
    ("survey", {"max_steps": 4}, 1),
    ("survey", {"max_steps": 3}, 0),
]


@each_agent
@pytest.mark.parametrize(("task", "budget", "searches"), BUDGETS)
def test_no_budget_is_too_small_to_submit(task, budget, searches, agent, world):
    with LLMServer(helpful) as server:
        scored(play(world, task, agent, "run", server, surveys=1, **budget), 1)
    (episode,) = episodes("run")
    assert not episode["truncated"]
    assert len(queries_of(episode)) == searches
    assert bool(next(iter(episode["answers"].values()))) == bool(searches)


def test_a_failed_step_is_recorded(world):
    """Not more than is needed to find it: the request's hash and a sentence."""
    with LLMServer([bullets([]), ""]) as server:
        play(world, "discovery", "decomposer", "run", server, surveys=1)
    (episode,) = episodes("run")
    (failed,) = episode["notes"]["llm"]["failed"]
    assert set(failed) == {"request", "reason"}
    assert failed["request"] == episode["notes"]["llm"]["calls"][-1]["request"]
