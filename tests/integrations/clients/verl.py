"""verl's agent loop."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import tempfile
from types import SimpleNamespace
from typing import Any

import yaml
from verl.experimental.agent_loop.tool_agent_loop import AgentData, FunctionCall, ToolAgentLoop
from verl.tools.tool_registry import load_all_tools

from arena.session import Sessions
from arena_integrations.verl import _EPISODES, _SHARED, _entries, _kwargs, compute_score
from clients import Integration, Reply


class VerlDoor(Integration):
    """Plays episodes as verl's agent loop does: it loads the configuration and calls its tools."""

    refuses = "tools that the configuration does not have"

    def __init__(self, sessions: Sessions) -> None:
        super().__init__(sessions)
        entries = _entries(sessions, {"corpus": f"of the integration {id(self)}"})
        _SHARED[json.dumps(entries["tools"][0]["config"], sort_keys=True)] = sessions
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            yaml.safe_dump(entries, file)
            file.flush()
            with contextlib.redirect_stdout(io.StringIO()):  # each tool prints its schema
                self._tools = {tool.name: tool for tool in load_all_tools(file.name, None)}
        self.known = self._tools
        self._runner = asyncio.Runner()
        self._loop = SimpleNamespace(
            tools=self._tools, max_tool_response_length=10**9, tool_response_truncate_side="middle"
        )

    def open(self, seed: int | None, topic_id: str | None) -> tuple[str, str]:
        """Begin a rollout whose row names the topic, or a seed."""
        asked = _kwargs(self._tools, {"seed": seed, "topic_id": topic_id})
        self._rollout = AgentData([], [], [], None, None, {}, "rollout", asked)
        self._text = ""
        session = next(iter(self._tools.values())).episode(self._rollout)
        return session.opening, session.topic_id

    def call(self, tool: str, arguments: dict[str, Any]) -> Reply:
        """Call a tool as the agent loop does."""
        asked = FunctionCall(name=tool, arguments=json.dumps(arguments))
        calling = ToolAgentLoop._call_tool(
            self._loop, asked, self._rollout.tools_kwargs, self._rollout
        )
        response, reward, _ = self._runner.run(calling)
        self._text += response.text
        if not self.accepts(tool, arguments):
            return Reply(response.text, reward)
        return Reply.from_step(response.text, _EPISODES[self._rollout].last)._replace(reward=reward)

    def stop(self) -> float:
        """Ask the reward function."""
        return compute_score("", self._text, "", self._rollout.extra_fields)["score"]

    def schemas(self) -> list[dict[str, Any]]:
        """Return the tools as the agent loop gives them to the chat template."""
        return [
            tool.tool_schema.model_dump(exclude_unset=True, exclude_none=True)
            for tool in self._tools.values()
        ]

    def close(self) -> None:
        """End the event loop."""
        self._runner.close()


CLIENT = VerlDoor
