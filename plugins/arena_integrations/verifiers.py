"""verifiers: a taskset of a built corpus, for ``vf-eval`` and for prime-rl (0.4.0, v1).

verifiers starts the tool server as ``python -m`` this module. One server has the episodes of all
rollouts. Which episode a call is for stands in the rollout's state: verifiers fetches it before
each call and stores it after.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self

from arena.kit.lazy import require

require("the integration with verifiers", "verifiers")

import verifiers.v1 as vf
from mcp_types import CallToolResult, ListToolsResult
from pydantic import Field, field_validator, model_validator

from arena.errors import ArenaError
from arena.serving.mcp import result_of, tools_of
from arena.session import EpisodeSession, Sessions, Totals, play_again
from arena.tasks import TaskSet, is_comparison
from arena.tools import encode


class EpisodeState(vf.State):  # type: ignore[misc]
    """A rollout's episode: what to open, the actions so far, and what they earned.

    No model reads it, and no file has it.
    """

    key: str = ""
    topic_id: str | None = None
    seed: int | None = None
    actions: list[dict[str, Any]] = Field(default_factory=list)
    totals: dict[str, Any] = Field(default_factory=dict)
    over: bool = False
    error: str = ""

    def take(self, totals: Totals) -> None:
        """Keep what an episode has earned so far."""
        self.totals, self.over = totals._asdict(), totals.over
        if not totals.valid:
            self.error = f"a tool failed on the topic {totals.topic_id!r}."


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


class ResearchTools(vf.Toolset[ToolsConfig, EpisodeState]):  # type: ignore[misc]
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
            session = await self._session()
        except ArenaError as error:
            if not self.state.over:  # no fault of the model: `finalize` raises it
                self.state.error = str(error)
            return result_of(encode({"error": str(error)}), True)
        step = await session.astep(action)
        if "reward_terms" in step.info:  # else the episode is over, or its tool is broken
            self.state.actions.append(action)
        self.state.take(session.totals())
        return result_of(step.text, step.failed)

    async def _session(self) -> EpisodeSession:
        """Return the session of the rollout that calls; its first call opens it."""
        state = self.state
        if state.actions:
            return self.sessions.get(state.key)
        return await self.sessions.ajoin(state.key, seed=state.seed, topic_id=state.topic_id)


class ResearchConfig(vf.TasksetConfig):  # type: ignore[misc]
    """The settings of ``--env.taskset.NAME``.

    Topics are ids, on the command line with commas, or the number of the first, or comparisons
    such as ``title>=.2``; by default all that can be scored. Options are
    further arguments of the environment, such as ``retriever``, ``reward`` and ``max_steps``.
    """

    corpus: str = ""
    arena_task: str = "discovery"
    topics: list[str] | int | str | None = None
    options: dict[str, Any] = Field(default_factory=dict)

    @field_validator("topics", mode="before")
    @classmethod
    def _ids(cls, given: Any) -> Any:
        """Read ids with commas, which are how the command line has a list."""
        if isinstance(given, str) and not given.isdecimal() and not is_comparison(given):
            return [topic_id for topic_id in given.split(",") if topic_id]
        return given

    @model_validator(mode="after")
    def _usable(self) -> Self:
        """Open the corpus, so that the command line shows in its own way what is wrong."""
        try:
            if self.corpus:  # verifiers makes a configuration without one, to list its options
                sessions_of(self.served().model_dump_json())
        except ArenaError as error:
            raise ValueError(str(error)) from None
        return self

    def served(self) -> ToolsConfig:
        """Return the configuration of the tool server, which starts in another directory."""
        corpus = str(Path(self.corpus).resolve())
        return ToolsConfig(corpus=corpus, task=self.arena_task, options=self.options)


class ResearchData(vf.TaskData):  # type: ignore[misc]
    """A topic: its id is `id`, the first observation the prompt. There are no labels in it."""


class ResearchTask(vf.Task[ResearchData, EpisodeState]):  # type: ignore[misc]
    """An episode of a topic."""

    served = ""

    async def setup(self, trace: vf.Trace) -> None:
        """Say in the state which episode the tools are to open."""
        trace.state.key, trace.state.topic_id = trace.id, self.data.id

    async def finalize(self, trace: vf.Trace) -> None:
        """End an episode that the model left: what it selected or wrote counts.

        The tool server is out of reach by now; so the actions are carried out again, here.
        """
        left = not trace.state.over
        if not trace.state.error and left:
            sessions, actions = sessions_of(self.served), trace.state.actions
            if trace.is_truncated:  # results that no later request of the model held are not paid
                actions = actions[: len(trace.tool_messages)]
            episode = sessions.env, trace.state.topic_id, actions, sessions.credit
            trace.state.take(await asyncio.to_thread(play_again, *episode))
        if trace.state.error:  # a reward of 0 would not be the agent's
            raise ArenaError(trace.state.error)
        kept, totals = ("reward", "termination", "telemetry", "metrics"), trace.state.totals
        earned = {name: totals[name] for name in kept}
        if shares := list(totals["credit"]):
            credited = sum(share > 0 for share in shares) / len(shares)
            earned |= {"credit": shares, "metrics": totals["metrics"] | {"credited": credited}}
        trace.info["arena"] = earned | {"left": left}  # in the file of traces, as no state is

    @vf.stop  # type: ignore[untyped-decorator]
    async def over(self, trace: vf.Trace) -> bool:
        """Stop when the episode is over."""
        return bool(trace.state.over)

    @vf.reward  # type: ignore[untyped-decorator]
    async def reward(self, trace: vf.Trace) -> float:
        """Return the sum of the rewards."""
        return float(trace.info["arena"]["reward"])

    @vf.metric  # type: ignore[untyped-decorator]
    async def metrics(self, trace: vf.Trace) -> Mapping[str, float]:
        """Return the environment's metrics, and the numbers of `arena.telemetry`.

        ``credited`` is the share of calls with credit.
        """
        return {**trace.info["arena"]["metrics"], **trace.info["arena"]["telemetry"]}


class ResearchTaskset(vf.Taskset[ResearchTask, ResearchConfig]):  # type: ignore[misc]
    """One episode for each topic of a built corpus."""

    def load(self) -> Iterator[ResearchTask]:
        """Yield the episodes."""
        served = self.config.served().model_dump_json()
        tasks = TaskSet(self.config.corpus)
        prompts = sessions_of(served).prompts(tasks, self.config.topics)
        for topic_id, text in prompts.items():
            task = ResearchTask(ResearchData(id=topic_id, prompt=text), self.config.task)
            task.served = served
            yield task

    @classmethod
    def toolsets(cls, config: ResearchConfig) -> list[ResearchTools]:
        """Return the one tool server of all rollouts."""
        return [ResearchTools(config.served())]


if __name__ == "__main__":
    ResearchTools.run()
