"""The class of agents: one receives observations, returns actions, and has access to nothing else.

Functions here convert both from and to the messages of OpenAI's chat format.
"""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from arena.errors import DataError, clip
from arena.kit.files import read_json
from arena.plugins import Registry

Observation = Mapping[str, Any]
Action = dict[str, Any] | str


class Agent:
    """One agent for one episode; subclass it and write `act`.

    A subclass registers itself with ``@agent("name")``. It acts on observations alone:
    it receives no environment, no corpus and no labels. You can also write the whole episode as
    one generator: see `Researcher`.

    Args:
        seed: Seed of an agent that draws numbers; the same seed gives the same actions. A
            subclass whose constructor takes no `seed` has it as attribute after that.

    Attributes:
        unrecorded: Names of options that shape no action, such as the address of a server. They
            stay out of a run's manifest, so a run with other values is the same run.
        waits: Whether its episodes mostly wait for another machine, such as a model's server: then
            a run plays `PARALLEL` of them at once in threads, unless `parallel` says how many.
        tools: The environment's tools as `arena.tool_schemas` returns them. A run sets them before
            the first observation; they are empty otherwise.
    """

    unrecorded: ClassVar[frozenset[str]] = frozenset()
    waits: ClassVar[bool] = False
    tools: Sequence[Mapping[str, Any]] = ()
    seed: int = 0

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def act(self, observation: Observation) -> Action:
        """Return the next action, ``{"tool": name, "arguments": {...}}`` or the same as JSON.

        The observation has ``topic``, ``cutoff``, ``stage``, ``result`` (JSON text) and ``budget``;
        see docs/environments.md.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define act(observation)")

    def prepare(self) -> None:
        """Raise an error if the agent cannot play, such as without a key; before all episodes."""

    def count(self, prompt: int = 0, completion: int = 0, dollars: float = 0.0) -> None:
        """Count a call of a language model, with its tokens and price, in this episode's `notes`.

        `arena compare` shows the sums. An agent with `notes` of its own merges ``super().notes()``.
        """
        call = {"calls": 1, "prompt_tokens": prompt, "completion_tokens": completion}
        for name, value in (call | {"dollars": dollars}).items():
            self._counted[name] = self._counted.get(name, 0) + value

    @functools.cached_property
    def _counted(self) -> dict[str, float]:
        return {}

    def notes(self) -> dict[str, Any]:
        """Return a JSON object that a run writes into ``trajectories.jsonl`` after an episode.

        Leave out times, or two runs differ.
        """
        counted = vars(self).get("_counted")
        return {"llm": {"total": dict(counted), "failed": []}} if counted else {}

    def prompts(self) -> dict[str, str]:
        """Return the prompt templates in use, by name; a run records their hash."""
        return {}


def result_of(observation: Observation) -> dict[str, Any]:
    """Return the last tool's result as an object.

    >>> result_of({"result": '{"hits": []}'})
    {'hits': []}
    """
    return json.loads(observation["result"])  # type: ignore[no-any-return]


def actions_from(message: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return the tool calls of a model's message as (id of the call, action), in order.

    The message is a dict, or as the `openai` package returns it. A malformed call becomes an action
    too, which the environment refuses with the reason.
    """
    if not any(_get(message, key) is not None for key in ("role", "content", "tool_calls")):
        raise DataError(
            f"{clip(message)} is not a message of a model. Give response.choices[0].message."
        )
    actions = []
    calls = _get(message, "tool_calls")
    for call in calls if isinstance(calls, list | tuple) else ():
        function = _get(call, "function")
        name, arguments = _get(function, "name"), _get(function, "arguments")
        if isinstance(arguments, str):
            # Text that is not JSON stays text, which the environment refuses with the reason.
            with contextlib.suppress(ValueError):
                arguments = read_json(arguments or "{}")
        action = {"tool": name, "arguments": {} if arguments is None else arguments}
        actions.append((str(_get(call, "id")), action))
    return actions


def tool_message(call_id: str, observation: Mapping[str, Any]) -> dict[str, Any]:
    """Return an observation as the message that answers the tool call with this id.

    It has the role ``tool``, the last result and the budget that is left.
    """
    budget = {name: int(left) for name, left in observation["budget"].items()}
    content = json.dumps({"budget": budget, "stage": observation["stage"]}, ensure_ascii=False)
    return {
        "role": "tool",
        "tool_call_id": call_id,
        "content": f'{content[:-1]}, "result": {observation["result"]}}}',
    }


def _get(item: Any, name: str) -> Any:
    return item.get(name) if isinstance(item, Mapping) else getattr(item, name, None)


AGENTS: Registry[type[Agent]] = Registry("agent", packages=["baselines"], base=Agent)
agent = AGENTS.register
"""Decorator: ``@agent("name")``."""
