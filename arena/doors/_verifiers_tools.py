"""The tool server of the door to verifiers, which starts it as ``python -m`` this module.

One server has the episodes of all rollouts. Which episode a call is for stands in the rollout's
state: verifiers fetches it before each call and stores it after.
"""

from __future__ import annotations

import functools
from typing import Any

import verifiers.v1 as vf
from anyio import to_thread
from mcp_types import CallToolResult, ListToolsResult
from pydantic import Field

from arena.doors._mcp import result_of, tools_of
from arena.errors import ArenaError
from arena.session import Session, Sessions, Totals
from arena.tools import encode


class EpisodeState(vf.State):  # type: ignore[misc]
    """A rollout's episode. No model reads it, and no file holds it.

    Attributes:
        key: Name of the session.
        survey: Id of the survey to play; None draws one with the seed.
        seed: Seed of the draw.
        actions: What was carried out so far.
        reward: Sum of the rewards.
        metrics: Name of each metric -> score; empty until the episode is over.
        over: Whether the episode is over.
    """

    key: str = ""
    survey: str | None = None
    seed: int | None = None
    actions: list[dict[str, Any]] = Field(default_factory=list)
    reward: float = 0.0
    metrics: dict[str, float] = Field(default_factory=dict)
    over: bool = False

    def take(self, totals: Totals) -> None:
        """Keep what an episode has earned so far."""
        self.reward, self.metrics, self.over = totals.reward, totals.metrics, totals.over


class ToolsConfig(vf.SharedToolsetConfig):  # type: ignore[misc]
    """Which episodes the server plays: arguments of `Sessions.make`, options apart."""

    corpus: str = ""
    task: str = "discovery"
    options: dict[str, Any] = Field(default_factory=dict)


@functools.cache
def sessions_of(config: str) -> Sessions:
    """Return the sessions of a `ToolsConfig` in JSON; the same ones in a process."""
    asked = ToolsConfig.model_validate_json(config)
    return Sessions.make(asked.corpus, asked.task, **asked.options)


class SurveyTools(vf.Toolset[ToolsConfig, EpisodeState]):  # type: ignore[misc]
    """The tools of the episodes, with the very schemas of the environment."""

    TOOL_PREFIX = None

    async def setup(self) -> None:
        """Open the corpus."""
        self.sessions = sessions_of(self.config.model_dump_json())

    def register(self, mcp: Any) -> None:
        """Answer what lists and calls tools, before `mcp` looks at it.

        Tools made of signatures would drop unknown arguments, convert texts, and answer other
        mistakes themselves; the environment would never see these.
        """
        tools, call = tools_of(self.sessions.schemas()), self._with_state(self._call)

        async def answer(ctx: Any, call_next: Any) -> Any:
            if ctx.method == "tools/list":
                return ListToolsResult(tools=tools)
            if ctx.method == "tools/call":
                arguments = ctx.params.get("arguments") or {}
                return await call({"tool": ctx.params["name"], "arguments": arguments})
            return await call_next(ctx)

        mcp.middleware.append(answer)

    async def _call(self, action: dict[str, Any]) -> CallToolResult:
        try:
            session = self._session()
        except ArenaError as error:
            return result_of(encode({"error": str(error)}), True)
        step = await to_thread.run_sync(session.step, action)
        if "reward_terms" in step.info:  # else the episode is over, or its tool is broken
            self.state.actions.append(action)
        self.state.take(session.totals())
        return result_of(step.text, step.failed)

    def _session(self) -> Session:
        """Return the session of the rollout that calls; its first call opens it.

        Raises:
            UnknownSessionError: The session was closed, after its idle time-out say.
            DataError, UnknownNameError, CapacityError: It cannot be opened.
        """
        state = self.state
        if state.actions:
            return self.sessions.get(state.key)
        return self.sessions.join(state.key, seed=state.seed, survey=state.survey)


if __name__ == "__main__":
    SurveyTools.run()
