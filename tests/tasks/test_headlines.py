"""The headline of every task puts the labels over the best baseline, and that over chance."""

from __future__ import annotations

import pytest

import arena
from arena.tasks import TASKS, open_task
from corpus_builder.build import build
from corpus_builder.sources.world import WorldSource
from corpus_builder.world import WorldConfig

BASELINES = ("title", "scout")  # scout is the best of every task


@pytest.fixture(scope="module", params=[1, 2, 3])
def small_world(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("headlines") / "corpus"
    build(WorldSource(WorldConfig(papers=400, surveys=4, seed=request.param)), folder)
    return folder


@pytest.mark.parametrize("task", TASKS.names())
def test_the_headline_tells_agents_apart(task, small_world, tmp_path):
    headline = open_task(task).headline_name
    means = {
        agent: arena.run(small_world, task, agent, tmp_path / agent)["mean"][headline]
        for agent in ("random", *BASELINES, "oracle")
    }
    best = max(means[agent] for agent in BASELINES)
    assert means["oracle"] > best > means["random"]
