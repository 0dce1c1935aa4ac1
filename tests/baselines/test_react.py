"""ReAct: a model with function calling, in a real conversation over HTTP."""

from __future__ import annotations

import itertools
import json

import gymnasium
import pytest
from llm_server import LLMServer, tool_call

import arena
from arena.envs.config import LIMITS
from baselines.react import LEFT_OUT, MAX_REFUSED

pytestmark = pytest.mark.usefixtures("alone")


def play(synthetic, output, server, task="discovery", topics=1, **options):
    budget = {name: options.pop(name) for name in LIMITS if name in options}
    given = {"model": "scripted", "base_url": server.url, "max_retries": 1} | options
    return arena.run(synthetic, task, "react", output, agent_options=given, topics=topics, **budget)


def episode(output):
    return json.loads((output / "trajectories.jsonl").read_text().splitlines()[0])


def tools_used(output):
    return [step["action"]["tool"] for step in episode(output)["steps"]]


def results(body):
    return [json.loads(m["content"]) for m in body["messages"] if m["role"] == "tool"]


def hits(body):
    return [hit["id"] for hit in results(body)[-1]["result"]["hits"]]


def researcher(body):
    """Search, select, submit."""
    said = sum(message["role"] == "assistant" for message in body["messages"])
    if said == 0:
        return tool_call("search", {"query": "membrane", "k": 4}, "random-id-1")
    if said == 1:
        return tool_call("select", {"paper_ids": hits(body)[::-1]})
    return tool_call("finish", {})


def test_a_conversation(synthetic, tmp_path):
    with LLMServer(researcher) as server:
        play(synthetic, tmp_path / "run", server)
        first, second, third = server.requests
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic)
    observation, _ = env.reset(seed=0, options={"topic_id": episode(tmp_path / "run")["topic_id"]})
    for body in (first, second, third):
        assert body["tools"] == arena.tool_schemas(env)
        assert body["tool_choice"] == "auto"
        assert body["messages"][: len(first["messages"])] == first["messages"]
    (begin,) = first["messages"]
    for text in (
        observation["topic"], observation["cutoff"], json.loads(observation["result"])["message"],
        "100 steps, 50 searches, 100 reads",
    ):  # fmt: skip
        assert text in begin["content"]
    # Servers draw the ids of calls by chance; the conversation has its own.
    said, answered = second["messages"][1:]
    assert said["tool_calls"][0]["id"] == answered["tool_call_id"] == "call_1_0"
    observation, *_ = env.step({"tool": "search", "arguments": {"query": "membrane", "k": 4}})
    assert answered == arena.tool_message("call_1_0", observation)
    assert tools_used(tmp_path / "run") == ["search", "select", "finish"]
    assert episode(tmp_path / "run")["answers"]["discovery"] == hits(second)[::-1]


def test_a_model_without_tool_calls_is_reminded_and_then_stopped(synthetic, tmp_path):
    script = [tool_call("search", {"query": "membrane", "k": 3}), "Interesting!", "Very."]
    with LLMServer(script) as server:
        play(synthetic, tmp_path / "run", server)
        last = server.requests[-1]["messages"]
    assert tools_used(tmp_path / "run") == ["search", "submit"]
    assert last[-2] == {"role": "assistant", "content": "Interesting!"}
    assert last[-1]["content"].startswith("You have called no tool.")
    done = episode(tmp_path / "run")
    assert done["notes"]["llm"]["stopped"] == "silent"
    assert done["answers"]["discovery"] == hits({"messages": last[:-2]})


def test_selected_papers_are_submitted_when_steps_run_out(synthetic, tmp_path):
    def tireless(body):
        if sum(message["role"] == "assistant" for message in body["messages"]) == 1:
            return tool_call("select", {"paper_ids": hits(body)[1:]})
        return tool_call("search", {"query": "membrane", "k": 3})

    with LLMServer(tireless) as server:
        summary = play(synthetic, tmp_path / "run", server, max_steps=6)
        chosen = hits(server.requests[1])[1:]
    done = episode(tmp_path / "run")
    assert tools_used(tmp_path / "run") == [
        "search", "select", "search", "search", "search", "submit",
    ]  # fmt: skip
    assert done["answers"]["discovery"] == chosen
    assert done["notes"]["llm"]["stopped"] == "steps"
    assert not any(entry["truncated"] for entry in summary["per_topic"].values())


def test_a_call_that_would_end_the_episode_is_answered_without_it(synthetic, tmp_path):
    script = [
        tool_call("search", {"query": "membrane"}),
        tool_call("search", {"query": "protein"}),
        tool_call("read", {"paper_id": "x"}),
        tool_call("finish", {}),
    ]
    with LLMServer(script) as server:
        play(synthetic, tmp_path / "run", server, max_searches=1, max_reads=0)
        told = results(server.requests[-1])
    assert told[1:] == [
        {"error": "the budget allows no further search. Submit."},
        {"error": "the budget allows no further read. Submit."},
    ]
    assert tools_used(tmp_path / "run") == ["search", "finish"]


def test_a_model_that_repeats_refused_calls_is_stopped(synthetic, tmp_path):
    with LLMServer(lambda body: tool_call("search", {"query": "membrane", "k": 3})) as server:
        summary = play(synthetic, tmp_path / "run", server, max_searches=2)
        assert len(server.requests) == 2 + MAX_REFUSED
    done = episode(tmp_path / "run")
    assert tools_used(tmp_path / "run") == ["search", "search", "submit"]
    assert done["notes"]["llm"]["stopped"] == "budget"
    assert done["answers"]["discovery"]
    assert summary["counts"]["scored"] == 1


@pytest.mark.parametrize(
    ("tool", "characters"),
    [
        *itertools.product(["search", "read", "references", "citations"], [100, 4_000]),
        ("search", 30_000), ("search", 119_999),
    ],
)  # fmt: skip
def test_few_characters_end_no_episode(synthetic, tmp_path, tool, characters):
    def greedy(body):
        found = [
            hit["id"] for one in results(body) for hit in one.get("result", {}).get("hits", ())
        ]
        if tool == "search" or not found:
            return tool_call("search", {"query": "membrane protein", "k": 100})
        return tool_call(tool, {"paper_id": found[0]})

    with LLMServer(greedy) as server:
        play(synthetic, tmp_path / "run", server, max_characters=characters)
    done = episode(tmp_path / "run")
    assert not done["truncated"]
    assert done["steps"][-1]["action"]["tool"] == "submit"
    assert bool(done["answers"]["discovery"]) == (characters >= 4_000)


def test_messages_that_a_server_would_refuse_are_not_sent(synthetic, tmp_path):
    script = [
        tool_call("functions.search the web" + "x" * 99, {"query": "x"}),
        tool_call("", {}),
        tool_call("search", '{"query": "x", "k": NaN}'),
        " ",
        tool_call("finish", {}),
    ]
    with LLMServer(script) as server:
        play(synthetic, tmp_path / "run", server)
        said = [m for m in server.requests[-1]["messages"] if m["role"] == "assistant"]
    functions = [call["function"] for m in said for call in m.get("tool_calls", ())]
    assert [function["name"] for function in functions] == [
        "functions_search_the_web" + "x" * 40, "none", "search",
    ]  # fmt: skip
    assert functions[-1]["arguments"] == "{}"
    assert said[-1] == {"role": "assistant", "content": "(nothing)"}


def test_the_oldest_results_are_left_out_of_a_long_conversation(synthetic, tmp_path):
    def five(body):
        said = sum(message["role"] == "assistant" for message in body["messages"])
        return tool_call("search", {"query": "membrane", "k": 3, "offset": said}) if said < 5 else (
            tool_call("finish", {})
        )  # fmt: skip

    with LLMServer(five) as server:
        play(synthetic, tmp_path / "run", server, memory=1000)
        contents = [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    left_out = [content == LEFT_OUT for content in contents]
    assert left_out == sorted(left_out, reverse=True)
    assert 0 < sum(left_out) < 5
    assert sum(len(content) for content in contents if content != LEFT_OUT) <= 1000


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_at_a_limit_the_papers_shown_are_submitted(synthetic, tmp_path, calls):
    with LLMServer(lambda body: tool_call("search", {"query": "membrane", "k": 3})) as server:
        play(synthetic, tmp_path / "run", server, limits={"max_calls": calls})
        assert len(server.requests) == calls
    assert tools_used(tmp_path / "run") == ["search"] * calls + ["submit"]
    assert episode(tmp_path / "run")["notes"]["llm"]["stopped"] == "max_calls"


@pytest.mark.parametrize("over", [True, False])
def test_a_report_is_written_section_by_section(over, synthetic, tmp_path):
    def writer(body):
        said = sum(message["role"] == "assistant" for message in body["messages"])
        if said == 0:
            return tool_call("search", {"query": "membrane", "k": 2})
        first, second = (hit["id"] for hit in results(body)[0]["result"]["hits"])
        written = [f"Known [@{first}; @no-such].", f"New [@{second}].", f"Newer [@{second}]."]
        if said <= 3:
            heading = "Results" if said > 1 else "Background"
            return tool_call("write", {"heading": heading, "text": written[said - 1]})
        return tool_call("submit_report", {}) if over else "I am done."

    with LLMServer(writer) as server:
        play(synthetic, tmp_path / "run", server, "report")
    begin = server.requests[0]["messages"][0]["content"]
    assert "200000 characters to write" in begin
    assert "[@id]" in begin
    result = results(server.requests[3])[-1]["result"]
    assert (result["sections"], result["cited"], result["unknown"]) == (2, 2, 1)
    report = episode(tmp_path / "run")["answers"]["report"]
    assert report.startswith("## Background\n\nKnown [@")
    assert "Newer" in report
    assert "New " not in report
    assert tools_used(tmp_path / "run") == ["search", "write", "write", "write", "submit_report"]
