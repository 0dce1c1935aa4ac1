"""The default reward ranks agents as the score does: who answers better earns more."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import gymnasium
import pytest
from helpers import call

import arena
from arena.agents import Desk, Steps
from arena.envs import EnvConfig
from arena.tasks import TASKS
from baselines.scout import Scout


class Short(Scout):
    """Scout with as many papers as `title` submits: F1 counts how many an answer has."""

    def discover(self, desk: Desk) -> Steps[None]:
        yield from super().discover(desk)
        desk.ranking = desk.ranking[:100]


SEARCHING = ("oracle", "scout", "title", "random")
ORDERS = {
    "discovery": SEARCHING,
    "selection": SEARCHING,
    "question": ("oracle", Short, "title", "random"),
    "report": SEARCHING,
    "organization": ("oracle", "clustering", "random"),
}


def nothing(observation: dict[str, Any]) -> dict[str, Any]:
    return call("finish")


def shower(observation: dict[str, Any]) -> dict[str, Any]:
    """Three pages of the agent title's search, and no answer."""
    page = 50 - observation["budget"]["searches"]
    found = call("search", query=observation["topic"], k=100, offset=100 * page)
    return found if page < 3 else call("finish")


def mean_return(env: gymnasium.Env[Any, Any], agent: Any) -> float:
    return fmean(sum(each.rewards) for each in arena.rollouts(agent, env, seed=0))


@pytest.mark.parametrize("task", TASKS.names())
def test_a_task_pays_its_headline_alone(task: str) -> None:
    assert EnvConfig(task=task).reward == "final"


@pytest.mark.parametrize(("task", "agents"), ORDERS.items(), ids=ORDERS)
def test_better_agents_earn_more(synthetic: Path, task: str, agents: tuple[Any, ...]) -> None:
    env = EnvConfig(task=task).make(synthetic, 3)
    earned = [mean_return(env, agent) for agent in agents]
    assert all(better > worse for better, worse in pairwise(earned)), earned
    assert mean_return(env, nothing) == 0
    # Agreement is corrected for chance: a random map is worth an empty one.
    by_chance = task == "organization" and earned[-1] == pytest.approx(0, abs=0.05)
    assert by_chance or earned[-1] > 0


@pytest.mark.parametrize("task", ["discovery", "selection", "question", "report"])
def test_showing_without_an_answer_earns_nothing(synthetic: Path, task: str) -> None:
    env = EnvConfig(task=task).make(synthetic, 2)
    assert mean_return(env, shower) == 0 < mean_return(env, "title")
    shown = arena.rollouts(shower, env, seed=0)
    assert all(sum(s.info.get("gain", 0) for s in each.steps) > 0.2 for each in shown)


def test_nobody_earns_more_than_the_oracle_in_three_stages(synthetic: Path) -> None:
    env = EnvConfig(task="pipeline").make(synthetic, 2)
    best, *others = (mean_return(env, agent) for agent in SEARCHING)
    assert best == pytest.approx(1) and best > max(others)
