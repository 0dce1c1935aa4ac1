"""Agents leave nothing behind in their modules, and their numeric code takes one thread."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import pytest
from llm_server import LLMServer
from scripted_agents import helpful

import arena
import arena.llm
import baselines
from arena.agents import AGENTS

NAMES = sorted(AGENTS.names())


def variables() -> dict[str, str]:
    """Return the value of every variable of the modules and classes of baselines and arena.llm."""
    for package in (baselines, arena.llm):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(module.name)
    values = {}
    for name, module in list(sys.modules.items()):
        if name.startswith(("baselines", "arena.llm")):
            for key, value in vars(module).items():
                if key.startswith("__"):
                    continue
                values[f"{name}.{key}"] = repr(value)
                if isinstance(value, type) and value.__module__ == name:
                    values |= {f"{name}.{key}.{k}": repr(v) for k, v in vars(value).items()}
    return values


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("name", NAMES)
def test_an_episode_leaves_nothing_in_a_module(name, synthetic, tmp_path):
    before = variables()
    with LLMServer(helpful) as server:
        llm = issubclass(AGENTS.get(name), arena.llm.LLMAgent)
        options = {"model": "scripted", "base_url": server.url} if llm else {}
        for task in ("discovery", "organization"):
            output = tmp_path / task
            arena.run(synthetic, task, name, output, agent_options=options, topics=2)
    assert variables() == before
