"""The baseline outline-first over a real server: whole episodes, bad answers, limits, budgets."""

from __future__ import annotations

import re

import pytest
from helpers import make_env, played, run_contents
from llm_server import LLMServer
from scripted_agents import part

import arena
from arena.report import cited_ids
from baselines.outline_first import OutlineFirst

pytestmark = pytest.mark.usefixtures("alone")

OUTLINE = "<outline>\n# Any title\n## Index compression\n## Models\n### Sparse\n</outline>"


def text(body):
    return body["messages"][0]["content"]


def asked_for(body):
    """The template that a request was made with."""
    kinds = {"</titles>": "outline", "</draft>": "polish", "</points>": "section"}
    return next(kind for mark, kind in kinds.items() if mark in text(body))


def helpful(body):
    """A model that cites every paper that it is shown, and one that there is not."""
    kind = asked_for(body)
    if kind == "outline":
        return OUTLINE
    count = len(re.findall(r"^\d+\. ", part(text(body), "papers"), re.MULTILINE))
    numbers = "".join(f" [{number + 1}]" for number in range(count + 1))
    name = part(text(body), "heading") or "polished"
    return f"<section>\n## {name}\nThese are the {kind} papers{numbers}.\n</section>"


def agent(server, **options):
    return OutlineFirst(model="scripted", base_url=server.url, timeout=20.0, **options)


def test_an_episode_by_hand(mini):
    """Each section has one paper of its own, and p:day, which the topic finds."""
    env = make_env(mini, "arena/Report-v0")
    with LLMServer(helpful) as server:
        writer = agent(server, max_parallel=1, papers=2)
        actions, info, truncated = played(env, writer, "sv:1")
    report = (
        "# dense retrieval: a survey\n\n"
        "## Index compression\n\n### polished\nThese are the polish papers [@Z:tie] [@p:day].\n\n"
        "## Models\n\n### polished\nThese are the polish papers [@p:year] [@p:day].\n\n"
    )
    topic = "dense retrieval: a survey"
    assert actions == [
        {"tool": tool, "arguments": arguments}
        for tool, arguments in [
            ("search", {"query": topic, "k": 100}),
            ("search", {"query": f"{topic} Index compression", "k": 2}),
            ("search", {"query": f"{topic} Models Sparse", "k": 2}),
            ("read", {"paper_id": "Z:tie"}),
            ("read", {"paper_id": "p:year"}),
            ("read", {"paper_id": "p:day"}),
            ("submit_report", {"text": report}),
        ]
    ]
    assert not truncated
    assert info["answers"] == {"report": report}
    kinds = [asked_for(body) for body in server.requests]
    assert kinds == ["outline", "section", "section", "polish", "polish"]
    assert part(text(server.requests[0]), "titles") == "1. Dense Retrieval with Encoders (2020)"
    section, polish = text(server.requests[2]), text(server.requests[3])
    assert part(section, "points") == "Sparse"
    assert part(section, "papers") == (
        "1. Sparse Models in Practice (2020)\n"
        "2. Dense Retrieval with Encoders (2020)\n   We train encoders for passages."
    )
    assert part(polish, "draft") == (
        "## Index compression\nThese are the section papers [1] [2] [3]."
    )
    assert part(polish, "before") == "(none)"
    assert part(polish, "after") == "## Models\nThese are the section papers."
    assert writer.notes()["llm"]["failed"] == []


def but(**others):
    """`helpful`, except for some templates."""
    return lambda body: others.get(asked_for(body)) or helpful(body)


@pytest.mark.parametrize(
    ("others", "limits", "cited", "said"),
    [
        ({"outline": "No."}, None, {"p:day"}, "## Papers"),  # the hits of the topic as a list
        ({"section": "No."}, None, {"p:day", "Z:tie", "p:year"}, "## Papers"),
        ({"polish": "No."}, None, {"p:day", "Z:tie", "p:year"}, "the section papers"),
        ({}, {"max_calls": 3}, {"p:day", "Z:tie", "p:year"}, "the section papers"),
        ({}, {"max_calls": 1}, {"p:day", "Z:tie", "p:year"}, "## Papers"),
    ],
)
def test_answers_that_cannot_be_read_and_limits(mini, others, limits, cited, said):
    env = make_env(mini, "arena/Report-v0")
    with LLMServer(but(**others)) as server:
        writer = agent(server, max_parallel=1, papers=2, limits=limits)
        _, info, _ = played(env, writer, "sv:1")
    assert set(cited_ids(info["answers"]["report"])) == cited
    assert said in info["answers"]["report"]
    assert writer.stopped == ("max_calls" if limits else None)


@pytest.mark.parametrize("task", ["report", "pipeline", "organization", "selection"])
def test_it_plays_every_task_and_a_replay_is_the_same(synthetic, task, tmp_path):
    options = {"model": "scripted", "sections": 3}
    with LLMServer(helpful) as server:
        given = options | {"base_url": server.url}
        first = arena.run(synthetic, task, "outline-first", "run", agent_options=given, topics=2)
    again = arena.run(
        synthetic,
        task,
        "outline-first",
        "again",
        agent_options=options | {"mode": "replay"},
        topics=2,
    )
    assert first["mean"] == again["mean"]
    assert first["counts"]["scored"] == 2
    assert run_contents(tmp_path / "run") == run_contents(tmp_path / "again")
