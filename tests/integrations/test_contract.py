"""Every integration plays the very episodes of the plain environment: one test for all of them."""

from __future__ import annotations

import json
import pkgutil
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import pytest
from clients import IntegrationEnv, find_integration, integration_names
from gymnasium.error import ResetNeeded

import arena
import arena.serving
import arena_integrations
from arena.errors import DataError
from arena.session import Sessions
from arena.tasks import TaskSet
from arena.testing.auditor import attack_environment, audited_envs, open_audit

ACTIONS: list[Any] = [
    {"tool": "search", "arguments": {"query": "nested lattice", "k": 5}},
    '{"tool": "search", "arguments": {"query": "nested lattice", "offset": 3, "k": null}}',
    {"tool": "search", "arguments": {}},
    {"tool": "search", "arguments": {"query": "x", "k": 10**6}},
    {"tool": "search", "arguments": {"query": ["x"]}},
    {"tool": "search", "arguments": {"query": "深 \0 \x1b[31m é {} %s"}},
    {"tool": "read", "arguments": {"paper_id": "nobody's"}},
    {"tool": "no such tool", "arguments": {"a": {"b": [1, None, 0.5]}}},
    {"tool": "select", "arguments": {"paper_ids": ["a", "b"]}},
    "not a call",
]
ENDINGS = {
    "arena/Discovery-v0": {"tool": "submit", "arguments": {"paper_ids": []}},
    "arena/Organization-v0": {"tool": "organize", "arguments": {"mind_map": {"label": "All"}}},
    "arena/Report-v0": {"tool": "submit_report", "arguments": {"text": "Nothing. {0} %n"}},
}


@pytest.fixture(params=integration_names())
def integration(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Return a function that opens an environment behind the integration."""
    opened: list[IntegrationEnv] = []

    def through(env: Any) -> IntegrationEnv:
        opened.append(IntegrationEnv(find_integration(request.param)(Sessions(env))))
        return opened[-1]

    yield through
    for each in opened:
        each.close()


def both(
    env: Any, behind: IntegrationEnv, actions: list[Any], seed: int
) -> tuple[list[bool], list[float]]:
    """Play the actions in both; return which of them the integration did not send, and the rewards.

    The first one is to search for the topic, so that there is something to reward.
    """
    observation, info = env.reset(seed=seed)
    assert behind.reset(seed=seed) == (observation, info)
    topic = {"tool": "search", "arguments": {"query": observation["topic"], "k": 100}}
    refused, rewards, over = [], [], False
    for action in [topic, *actions]:
        refused.append(not behind.accepts(action))
        if refused[-1]:
            continue
        if over:
            with pytest.raises(ResetNeeded):
                env.step(action)
            with pytest.raises(ResetNeeded, match="the episode is over"):
                behind.step(action)
            continue
        expected, got = env.step(action), behind.step(action)
        assert got == expected
        rewards.append(expected[1])
        over = expected[2] or expected[3]
    assert over
    return refused, rewards


@pytest.mark.parametrize("env_id", ENDINGS)
def test_the_same_actions_give_the_same_episode(
    synthetic: Path, integration: Any, env_id: str
) -> None:
    env = gymnasium.make(env_id, corpus=synthetic, reward="shaped").unwrapped
    behind, end = integration(env), ENDINGS[env_id]
    for seed in (3, 4):
        refused, rewards = both(env, behind, [*ACTIONS, end, ACTIONS[0]], seed)
        assert refused[:3] == [False] * 3
        assert refused[len(ACTIONS)]
        assert rewards[0] > 0 or env_id != "arena/Discovery-v0"


@pytest.mark.parametrize(
    "budget", [{"max_searches": 1}, {"max_steps": 2}, {"max_characters": 300}], ids=str
)
def test_a_budget_ends_the_episode(
    synthetic: Path, integration: Any, budget: dict[str, int]
) -> None:
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic, **budget).unwrapped
    both(env, integration(env), [ACTIONS[0]] * 4, seed=1)


def test_a_model_that_stops_is_paid_for_what_it_selected(synthetic: Path, integration: Any) -> None:
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic, reward="gain+recall@100").unwrapped
    behind, observation, info = integration(env), *env.reset(seed=3)
    behind.reset(seed=3)
    gold = sorted(TaskSet(synthetic).gold(info["topic_id"]).gains)
    actions = [
        {"tool": "search", "arguments": {"query": observation["topic"]}},
        {"tool": "select", "arguments": {"paper_ids": gold[:2]}},
    ]
    for action in actions:
        behind.step(action)
    steps = [env.step(action)[1] for action in [*actions, {"tool": "finish", "arguments": {}}]]
    assert steps[2] == 2 / len(gold)
    assert behind._integration.stop() == pytest.approx(sum(steps), abs=1e-12)


def test_what_the_framework_refuses_changes_nothing(synthetic: Path, integration: Any) -> None:
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic).unwrapped
    behind = integration(env)
    behind.reset(seed=1)
    with pytest.raises(DataError, match="no call of a tool"):
        behind.step("not a call")
    for action in ACTIONS[:-1]:
        call = json.loads(action) if isinstance(action, str) else action
        if not behind.accepts(action):
            assert type(behind._integration).refuses
            behind._integration.call(call["tool"], call["arguments"])
    observation, *_ = behind.step(ACTIONS[0])
    assert observation["budget"]["steps"] == 99


def test_the_model_sees_our_tools(synthetic: Path, integration: Any) -> None:
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic)
    behind = integration(env)
    behind.reset(seed=1)
    seen, ours = (
        sorted(tools, key=lambda tool: tool["function"]["name"])
        for tools in (behind._integration.schemas(), arena.tool_schemas(env))
    )
    assert [each["function"]["name"] for each in seen] == [t["function"]["name"] for t in ours]
    for each, tool in zip(seen, ours, strict=True):
        got, expected = each["function"]["parameters"], tool["function"]["parameters"]
        assert tool["function"]["description"] in each["function"]["description"]
        assert got["properties"].keys() == expected["properties"].keys()
        assert sorted(got.get("required", [])) == sorted(expected["required"])
        for name, part in expected["properties"].items():
            assert part["description"] in got["properties"][name]["description"]


@pytest.mark.slow
@pytest.mark.parametrize("env_id", ENDINGS)
def test_nothing_leaks_through_the_integration(
    synthetic: Path, integration: Any, env_id: str
) -> None:
    """The attacks of the audit on every tool, sent through the framework's own client."""
    state = open_audit(synthetic, ("bm25",))
    report = state.log
    made = {"corpus": str(synthetic), "retriever": "bm25"}
    for audited in audited_envs([env_id], made, state.stored):
        if not audited.vector:
            attack_environment(audited, made, state, random.Random(5), 100, behind=integration)
    assert report.clean, report.findings[:3]
    assert report.counts["actions"] >= 200
    assert report.counts["decoys compared"] > 5


def test_a_leak_through_the_integration_is_found(
    synthetic: Path, integration: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    late = arena.CorpusView.__init__
    monkeypatch.setattr(
        arena.CorpusView,
        "__init__",
        lambda self, store, day, *rest: late(self, store, day + 1000, *rest),
    )
    state = open_audit(synthetic, ("bm25",))
    report = state.log
    made = {"corpus": str(synthetic), "retriever": "bm25"}
    (audited, *_) = audited_envs(["arena/Discovery-v0"], made, state.stored)
    attack_environment(audited, made, state, random.Random(5), 60, behind=integration)
    assert report.by_check["leak.paper"]


SEARCH_ONLY = {"retrieve", "ir_datasets", "pyterrier"}  # they play no episodes
NO_INTEGRATION = {"commands", "http", "processes", "readers"}


def test_every_integration_has_a_client_here() -> None:
    paths = [*arena.serving.__path__, *arena_integrations.__path__]
    found = {module.name for module in pkgutil.iter_modules(paths)} - NO_INTEGRATION
    assert {name for name in found if name[0] != "_"} == {*integration_names(), *SEARCH_ONLY}
