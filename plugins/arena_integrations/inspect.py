"""inspect_ai: every task of this project as ``arena/NAME``, with tools, solver and scorer.

The set-up of a sample opens a session, also where the solver is another one; the clean-up closes
it, also after an error. The layout follows inspect_ai 0.3.285.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from arena.kit.lazy import require

require("the integration with inspect_ai", "inspect_ai")

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.log import transcript
from inspect_ai.model import ChatMessageUser
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.tool import Tool, ToolDef, ToolError, ToolParams
from inspect_ai.util import registry_info, store

from arena.corpus import Corpus
from arena.errors import ArenaError, clip
from arena.session import EpisodeSession, Sessions
from arena.tasks import TASKS, TaskSet, is_comparison

OVER = "researcharena:over"
"""Key of a sample's store: whether its episode is over."""
_REMINDER = "Call a tool. The episode ends when you submit or finish."
_MESSAGES = 4
"""Messages for each step of the budget, after which inspect stops a model that makes bad calls."""


def episodes(
    name: str,
    corpus: str | Path,
    topics: Sequence[str] | int | str | None = None,
    **options: Any,
) -> Task:
    """Return a task of inspect_ai: one sample for each topic that can be scored.

    Topics are ids, or the number of the first; options are arguments of the environment, such as
    ``max_steps=20`` or ``reward="gain"``.
    """
    specification, opened = TASKS.get(name), Corpus.resolve(corpus)
    tasks, one = TaskSet(opened), isinstance(topics, str) and not is_comparison(topics)
    chosen = [str(topics)] if one else topics
    named = None if isinstance(chosen, int) else chosen  # a number counts what can be scored alone
    sessions = Sessions.make(opened, name, topics=named, **options)

    @solver(name="begin")  # type: ignore[untyped-decorator]
    def begin() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:
            session = await sessions.ajoin(state.uuid, topic_id=str(state.sample_id))
            state.tools = tools_of(session, sessions.schemas())
            return state

        return solve

    @scorer(metrics={"*": [mean(), stderr()]}, name="metrics")  # type: ignore[untyped-decorator]
    def metrics() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:
            totals = await sessions.get(state.uuid).afinish()
            if not totals.valid:  # no score, but an error of the sample
                raise ArenaError(f"a tool failed on the topic {clip(totals.topic_id)}.")
            value = totals.metrics | {"reward": totals.reward}
            if specification.headline in value:  # the viewer shows the first one most
                value = {specification.headline: value[specification.headline]} | value
            spent = {"steps": totals.steps, "terms": totals.terms, "left": totals.budget}
            ended = {"termination": totals.termination, "telemetry": totals.telemetry}
            return Score(value=value, metadata=spent | ended | tasks.groups(totals.topic_id))

        return score

    async def end(state: TaskState) -> None:
        sessions.discard(state.uuid)

    prompts = sessions.prompts(tasks, chosen)
    steps = json.loads(next(iter(prompts.values())))["budget"]["steps"]
    return Task(
        dataset=[Sample(text, id=topic_id) for topic_id, text in prompts.items()],
        setup=begin(),
        solver=researcher(),
        scorer=metrics(),
        cleanup=end,
        message_limit=_MESSAGES * steps,
        metadata={"task": name, "sha256": {"corpus": opened.sha256, "tasks": tasks.sha256},
                  "undated": tasks.undated},
    )  # fmt: skip


def _researcher(reminders: int = 1) -> Solver:
    """Let the model call tools until the episode is over or it ignored `reminders` in a row."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        silent = 0
        while not (state.store.get(OVER) or state.completed):
            state = await generate(state, tool_calls="single")
            silent = 0 if state.output.message.tool_calls else silent + 1
            if silent > reminders:
                break
            if silent:
                state.messages.append(ChatMessageUser(content=_REMINDER))
        return state

    return solve


def tools_of(session: EpisodeSession, schemas: Sequence[dict[str, Any]]) -> list[Tool]:
    """Return the tools of an episode. A call that the environment refuses is a `ToolError`.

    The transcript gets the reward of each step, and the sample's store `OVER`.
    """

    def made(function: dict[str, Any]) -> Tool:
        name = function["name"]

        async def call(**kwargs: Any) -> str:
            step = await session.astep({"tool": name, "arguments": kwargs})
            store().set(OVER, session.over)
            if "reward_terms" in step.info:
                paid = {"reward": step.reward, "terms": step.info["reward_terms"]}
                transcript().info(paid, source="reward")
            if step.failed:
                raise ToolError(step.text)
            return step.text

        # By default inspect cuts what is longer than 16 kB out of the middle of a result.
        tool = ToolDef(call, name, function["description"], _params(function), max_output=0)
        return tool.as_tool()

    return [made(schema["function"]) for schema in schemas]


def _params(function: dict[str, Any]) -> ToolParams:
    """Return the arguments of a tool; optional ones may be null, as for the environment."""
    parameters = copy.deepcopy(function["parameters"])
    for name, part in parameters["properties"].items():
        if name not in parameters["required"]:
            part["type"] = [part["type"], "null"]
            if "enum" in part:
                part["enum"].append(None)
    return ToolParams(**parameters)


def _named(register: Any, name: str, function: Any) -> Any:
    """Register a function as ``arena/NAME``.

    inspect adds the package's name to what lies in site-packages, not in an editable install.
    """
    made, full = register(name=name)(function), f"arena/{name}"
    return made if registry_info(made).name == full else register(name=full)(function)


def _task(name: str) -> Any:
    def make(corpus: str, topics: Sequence[str] | int | str | None = None, **options: Any) -> Task:
        return episodes(name, corpus, topics, **options)

    return _named(task, name, make)


researcher = _named(solver, "researcher", _researcher)
REGISTERED = {name: _task(name) for name in TASKS.names()}
"""Name of each task of this project -> the function that inspect calls for it."""
