"""Runs count submitted ids that nothing showed to the agent."""

from __future__ import annotations

import json

from helpers import call

import arena
from arena.agents import Agent


class Remembers(Agent):
    """Searches once, then submits a hit of it, a paper that it knows by heart, and the given."""

    def __init__(self, seed=0, known=(), hits=1):
        super().__init__(seed)
        self.known, self.hits = list(known), hits
        self.found = None

    def act(self, observation):
        result = json.loads(observation["result"])
        if self.found is None:
            self.found = []
            return call("search", query=observation["topic"], k=3)
        shown = [hit["id"] for hit in result.get("hits", ())][: self.hits]
        return call("submit", paper_ids=[*shown, *self.known])


def test_ids_that_nothing_showed_are_counted(tiny, tmp_path):
    """Of a hit and a paper known by heart a half was never shown; of no paper there is no share."""
    options = {"known": ["p1"], "hits": 1}
    run = arena.run(
        tiny, "discovery", Remembers, tmp_path / "half", topics=["s1"], agent_options=options
    )
    assert run["per_topic"]["s1"]["unseen"] == run["unseen"] == 0.5
    nothing = {"hits": 0}
    run = arena.run(
        tiny, "discovery", Remembers, tmp_path / "none", topics=["s1"], agent_options=nothing
    )
    assert run["per_topic"]["s1"]["unseen"] is run["unseen"] is None
    assert arena.run(tiny, "discovery", "oracle", tmp_path / "oracle", topics=["s1"])["unseen"] == 1
    given = arena.run(tiny, "organization", "oracle", tmp_path / "all", topics=["s1"])
    assert given["unseen"] == 0  # it began with them
    twice = arena.run(
        tiny,
        "discovery",
        Remembers,
        tmp_path / "twice",
        topics=["s1"],
        agent_options=options,
        repeats=2,
    )
    assert twice["unseen"] == 0.5
    found = arena.compare([tmp_path / "half", tmp_path / "oracle"])
    assert {run.name: run.unseen for run in found.runs} == {
        "Remembers, bm25": 0.5,
        "oracle, bm25": 1.0,
    }
