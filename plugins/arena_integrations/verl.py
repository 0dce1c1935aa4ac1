"""verl: a tool class, the configuration that names it, rows of a data set, and a reward function.

What the calls of a rollout share is its ``agent_data``: an episode opens with the first call, and
closes when verl drops that object.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from arena.errors import ArenaError, DataError
from arena.session import EpisodeSession, Sessions, Totals, play_again
from arena.tasks import TaskSet
from arena.telemetry import Watch, telemetry

try:
    from verl.tools.base_tool import BaseTool
except ImportError:  # schemas, rows and rewards need no verl
    BaseTool = object

TOTALS = "arena"
"""Key of ``agent_data.extra_fields``: the totals of the episode, which `compute_score` reads."""

_SHARED: weakref.WeakValueDictionary[str, Sessions] = weakref.WeakValueDictionary()
_EPISODES: weakref.WeakKeyDictionary[Any, EpisodeSession] = weakref.WeakKeyDictionary()
_WATCH = Watch()


def tool_config(corpus: str, task: str = "discovery", **arguments: Any) -> dict[str, Any]:
    """Return the content of verl's ``tool_config_path``: each tool of a task's environment.

    The corpus is a directory as the trainer's machines see it; further arguments are those of
    `Sessions.make`, such as ``reward`` or ``max_steps``.
    """
    sessions = Sessions.make(corpus, task, **arguments)
    return _entries(sessions, {"corpus": corpus, "task": task, **arguments})


def rows(
    corpus: str,
    topics: Sequence[str] | int | None = None,
    task: str = "discovery",
    **arguments: Any,
) -> list[dict[str, Any]]:
    """Return one row of verl's data set for each topic; there are no labels in it.

    Topics are ids, or the number of the first; by default all that can be scored. The other
    arguments are those of `tool_config`; the prompt names the budget.
    """
    sessions = Sessions.make(corpus, task, **arguments)
    names = [schema["function"]["name"] for schema in sessions.schemas()]
    prompts = sessions.prompts(TaskSet(corpus), topics)
    return [
        {
            "data_source": f"arena/{task}",
            "agent_name": "tool_agent",
            "prompt": [{"role": "user", "content": text}],
            "reward_model": {"style": "rule", "ground_truth": ""},
            "extra_info": {"index": i, "tools_kwargs": _kwargs(names, {"topic_id": topic_id})},
        }
        for i, (topic_id, text) in enumerate(prompts.items())
    ]


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str,
    extra_info: Mapping[str, Any],
    invalid: float | None = None,
    credit: bool = False,
    **_: Any,
) -> dict[str, Any]:
    """Return verl's reward of a rollout: the sum of its rewards, 0 if it never called a tool.

    The episode of a model that stopped is finished: what it selected or wrote counts. So its
    actions are carried out again, here, without those whose result verl dropped as too long.
    ``over`` is 1 if the episode ended before, and ``steps`` counts its actions. ``termination`` and
    the numbers of `arena.telemetry` are beside them.

    ``valid`` is 0 if a tool failed, so that a trainer can mask the rollout: its score is `invalid`.
    By default such a rollout is an error. With `credit` there is also the JSON text of a list with
    the credit of each action, if the tools' configuration names one.
    """
    totals = extra_info.get(TOTALS, {"reward": 0.0, "over": False, "steps": 0})
    if "error" in totals:
        raise DataError(totals["error"])
    valid, over, again = totals.get("valid", True), totals["over"], totals.get("again")
    if not valid and invalid is None:  # the reward is not the agent's
        raise DataError(f"a tool failed on the topic {totals['topic_id']!r}.")
    if valid and again is not None:
        kept = [action for action, head in again["played"] if head in solution_str]
        if not over or len(kept) < len(again["played"]):
            sessions = _sessions_of(again["config"])
            played = play_again(sessions.env, totals["topic_id"], kept, sessions.credit)
            totals = played._asdict()
    more = {"credit": json.dumps(totals.get("credit", []))} if credit else {}
    score = totals["reward"] if valid else invalid
    ends = {"over": float(over), "steps": totals["steps"], "valid": float(valid)}
    return {"score": score, **ends, **more, **_told(totals)}


def _told(totals: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the trainer shows besides; verl wants the same keys of all rollouts."""
    numbers = totals.get("telemetry") or telemetry([], [], 0)
    if "topic_id" in totals:
        _WATCH.add(Totals(**{name: totals[name] for name in Totals._fields if name in totals}))
    return {"termination": totals.get("termination", ""), **numbers}


class ResearchTool(BaseTool):  # type: ignore[misc]
    """One tool of the episodes. All tools with the same configuration share them.

    Besides ``type: native`` for verl, `config` has arguments of `Sessions.make`.
    """

    def __init__(self, config: dict[str, Any], tool_schema: Any) -> None:
        super().__init__(config, tool_schema)
        self._key = json.dumps(config, sort_keys=True)
        self._sessions = _sessions_of(self._key)

    def episode(self, agent_data: Any) -> EpisodeSession:
        """Return the episode of a rollout; the first call opens it as the row says."""
        if agent_data not in _EPISODES:
            asked = agent_data.tools_kwargs.get(self.name, {}).get("create_kwargs", {})
            try:
                session = self._sessions.open(**asked)
            except ArenaError as error:  # verl would show it to the model, and train on
                agent_data.extra_fields[TOTALS] = {"error": str(error)}
                raise
            _EPISODES[agent_data] = session
            weakref.finalize(agent_data, self._sessions.discard, session.key)
        return _EPISODES[agent_data]

    async def execute(
        self, instance_id: str, parameters: Any, *, agent_data: Any, **_: Any
    ) -> tuple[Any, float, dict[str, Any]]:
        """Carry out a call; return what the model reads, and the reward of the step."""
        from verl.tools.schemas import ToolResponse

        session = self.episode(agent_data)
        step = await session.astep({"tool": self.name, "arguments": parameters})
        again = {"config": self._key, "played": list(map(list, session.played))}
        agent_data.extra_fields[TOTALS] = session.totals()._asdict() | {"again": again}
        return ToolResponse(text=step.text), step.reward, {}


def _sessions_of(config: str) -> Sessions:
    """Return the sessions of a configuration in JSON; the same ones in a process."""
    if (made := _SHARED.get(config)) is None:
        given = {name: v for name, v in json.loads(config).items() if name != "type"}
        made = _SHARED[config] = Sessions.make(**given)
    return made


def _entries(sessions: Sessions, arguments: Mapping[str, Any]) -> dict[str, Any]:
    config = {"type": "native", **arguments}  # one object, which YAML writes once
    name = f"{ResearchTool.__module__}.{ResearchTool.__name__}"
    schemas = sessions.schemas()
    return {"tools": [{"class_name": name, "config": config, "tool_schema": s} for s in schemas]}


def _kwargs(names: Iterable[str], arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: {"create_kwargs": arguments} for name in names}
