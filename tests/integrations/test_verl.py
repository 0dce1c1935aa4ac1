"""verl plays episodes by its own registry and agent loop; rows and rewards need no verl."""

from __future__ import annotations

import asyncio
import gc
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import pytest
import yaml
from helpers import gold_of

import arena
from arena.errors import DataError
from arena.telemetry import telemetry
from arena_integrations import verl as integration

ROOT = Path(__file__).parents[2]


def test_the_file_of_tools_is_the_schemas(synthetic: Path) -> None:
    written = integration.tool_config(str(synthetic))
    ours = arena.tool_schemas(gymnasium.make("arena/Discovery-v0", corpus=synthetic))
    assert [entry["tool_schema"] for entry in written["tools"]] == ours
    for entry in written["tools"]:
        assert entry["class_name"] == "arena_integrations.verl.ResearchTool"
        assert entry["config"] == {"type": "native", "corpus": str(synthetic), "task": "discovery"}
    written["tools"][0]["config"]["corpus"] = "demo/synthetic"  # the one object of all entries
    path = ROOT / "plugins/arena_integrations/configs/verl-tools.yaml"
    shipped = path.read_text(encoding="utf-8")
    assert shipped.endswith("\n" + yaml.safe_dump(written, sort_keys=False, width=100))


def test_a_row_has_the_first_observation_and_no_label(synthetic: Path) -> None:
    rows = integration.rows(str(synthetic), 2, max_steps=7)
    env = gymnasium.make("arena/Discovery-v0", corpus=synthetic, max_steps=7)
    for row in rows:
        kwargs = row["extra_info"]["tools_kwargs"]
        topic = kwargs["search"]["create_kwargs"]["topic_id"]
        assert kwargs["submit"] == kwargs["search"]
        first, _ = env.reset(options={"topic_id": topic})
        shown = json.loads(row["prompt"][0]["content"])
        assert shown["topic"] == first["topic"]
        assert shown["budget"]["steps"] == 7
        assert not any(paper in json.dumps(row) for paper in gold_of(synthetic, topic))
    assert len({row["extra_info"]["index"] for row in rows}) == 2


def test_the_score_is_the_sum_of_the_rewards() -> None:
    totals = {"reward": 0.25, "over": True, "steps": 3, "terms": {}, "metrics": {"recall@10": 0.5}}
    score = integration.compute_score("arena/discovery", "", "", {"index": 0, "arena": totals})
    nothing = {"termination": "", **telemetry([], [], 0)}
    assert score == {"score": 0.25, "over": 1.0, "steps": 3, "valid": 1.0, **nothing}
    ends = {"over": 0.0, "steps": 0, "valid": 1.0}
    assert integration.compute_score("", "", "", {}) == {"score": 0.0, **ends, **nothing}
    failed = {"arena": totals | {"valid": False, "topic_id": "x", "budget": {}}}
    with pytest.raises(DataError, match="a tool failed"):
        integration.compute_score("", "", "", failed)
    score = integration.compute_score("", "", "", failed, invalid=0.0)
    assert score == {"score": 0.0, "over": 1.0, "steps": 3, "valid": 0.0, **nothing}
    with pytest.raises(DataError, match="no topic"):
        integration.compute_score("", "", "", {"arena": {"error": "no topic named 'x'."}})


class Rollouts:
    """Rollouts of verl's agent loop over a file of tools, without its language model."""

    def __init__(self, path: Path) -> None:
        registry = pytest.importorskip("verl.tools.tool_registry", reason="needs verl")
        self.loop = pytest.importorskip("verl.experimental.agent_loop.tool_agent_loop")
        tools = {tool.name: tool for tool in registry.load_all_tools(str(path), None)}
        self.sessions = tools["search"]._sessions
        assert all(tool._sessions is self.sessions for tool in tools.values())
        self.worker = SimpleNamespace(
            tools=tools, max_tool_response_length=10**6, tool_response_truncate_side="middle"
        )

    def open(self, row: dict[str, Any]) -> Any:
        """Begin the rollout of a row; all have the key that verl gives with full determinism."""
        kwargs = row["extra_info"]["tools_kwargs"]
        return self.loop.AgentData(row["prompt"], [], [], None, None, {}, "det-0", kwargs)

    async def call(self, rollout: Any, tool: str, arguments: str) -> tuple[str, float]:
        """Call a tool, as the agent loop does; return what the model reads, and the reward."""
        call = self.loop.FunctionCall(name=tool, arguments=arguments)
        answer = await self.loop.ToolAgentLoop._call_tool(
            self.worker, call, rollout.tools_kwargs, rollout
        )
        return answer[0].text, answer[1]


@pytest.fixture
def written(synthetic: Path, tmp_path: Path) -> Path:
    path = tmp_path / "tools.yaml"
    path.write_text(yaml.safe_dump(integration.tool_config(str(synthetic), reward="gain")))
    return path


def test_rollouts_side_by_side_are_episodes_of_their_own(synthetic: Path, written: Path) -> None:
    verl, rows = Rollouts(written), integration.rows(str(synthetic), 2, reward="gain")
    rollouts: list[Any] = [verl.open(row) for row in rows]

    async def play(rollout: Any, row: dict[str, Any]) -> list[tuple[str, float]]:
        topic = row["extra_info"]["tools_kwargs"]["search"]["create_kwargs"]["topic_id"]
        papers = sorted(gold_of(synthetic, topic))[:3]
        calls = [("search", {"query": "x"}), ("search", []), ("submit", {"paper_ids": papers})]
        done = [await verl.call(rollout, tool, json.dumps(given)) for tool, given in calls]
        assert '"error"' in done[1][0]
        for refused in (("find", "{}"), ("search", "{")):
            text, reward = await verl.call(rollout, *refused)
            assert reward == 0
            assert '"budget"' not in text
        return done

    async def both() -> list[list[tuple[str, float]]]:
        return await asyncio.gather(*map(play, rollouts, rows))

    done = asyncio.run(both())
    assert len(verl.sessions) == 2
    for rollout, earned, row in zip(rollouts, done, rows, strict=True):
        totals = rollout.extra_fields["arena"]
        assert (
            totals["topic_id"]
            == row["extra_info"]["tools_kwargs"]["read"]["create_kwargs"]["topic_id"]
        )
        assert (totals["steps"], totals["over"]) == (3, True)
        texts, rewards = zip(*earned, strict=True)
        score = integration.compute_score("", "".join(texts), "", rollout.extra_fields)
        ends = {"over": 1.0, "steps": 3, "valid": 1.0}
        assert score.items() >= ends.items() and score["score"] == pytest.approx(sum(rewards))
        assert (score["termination"], score["calls"], score["refused"]) == ("submitted", 3, 1)
        score = integration.compute_score("", "".join(texts[1:]), "", rollout.extra_fields)
        assert score.items() >= (ends | {"steps": 2}).items()
        assert score["score"] == pytest.approx(sum(rewards[1:]))
        assert json.loads(json.dumps(totals)) == totals
    rollouts.clear()
    del rollout
    gc.collect()
    assert len(verl.sessions) == 0


def test_what_cannot_be_opened_is_not_trained_on(synthetic: Path, written: Path) -> None:
    verl = Rollouts(written)
    (row,) = integration.rows(str(synthetic), 1)
    row["extra_info"]["tools_kwargs"]["search"]["create_kwargs"] = {"topic_id": "nobody's"}
    rollout = verl.open(row)
    text, _ = asyncio.run(verl.call(rollout, "search", '{"query": "x"}'))
    assert "Error executing tool" in text
    with pytest.raises(DataError, match="nobody's"):
        integration.compute_score("", "", "", rollout.extra_fields)
