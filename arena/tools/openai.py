"""The tools in the format of OpenAI's chat completions, which most servers of models speak.

>>> import gymnasium, arena                                            # doctest: +SKIP
>>> env = gymnasium.make("arena/Discovery-v0", corpus="demo/world")    # doctest: +SKIP
>>> observation, _ = env.reset(seed=0)                                 # doctest: +SKIP
>>> answer = client.chat.completions.create(                           # doctest: +SKIP
...     model="any", messages=messages, tools=arena.tool_schemas(env))
>>> for call_id, action in arena.actions_from(answer.choices[0].message):  # doctest: +SKIP
...     observation, reward, terminated, truncated, info = env.step(action)
...     messages.append(arena.tool_message(call_id, observation))
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

import gymnasium

from arena.errors import DataError, clip
from arena.tools._schema import schema
from arena.tools.base import Tool


def tool_schemas(
    env: gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any],
) -> list[dict[str, Any]]:
    """Return the tools of an environment for the argument ``tools`` of a chat completion.

    Args:
        env: an environment of this project, wrapped or not, scalar or vector.

    Raises:
        DataError: if it is another environment.
    """
    space = getattr(env, "single_action_space", None) or getattr(env, "action_space", None)
    tools = getattr(space, "tools", None)
    if not isinstance(tools, dict):
        raise DataError(
            f"{clip(env)} has no tools. Give an environment such as 'arena/Discovery-v0'."
        )
    return [_function(tool) for tool in tools.values()]


def _function(tool: Tool) -> dict[str, Any]:
    described = {"name": tool.name, "description": tool.description, "parameters": schema(tool)}
    return {"type": "function", "function": described}


def actions_from(message: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return the tool calls of a model's message as (id of the call, action), in order.

    Args:
        message: an assistant's message, as the `openai` package returns it or as a dict.

    Returns:
        Empty if the message calls no tool. A call that is malformed becomes an action all the
        same: the environment answers it with what is wrong.

    Raises:
        DataError: if `message` is something else, such as the whole response.
    """
    if not any(_get(message, key) is not None for key in ("role", "content", "tool_calls")):
        raise DataError(
            f"{clip(message)} is no message of a model. Give response.choices[0].message."
        )
    found = []
    calls = _get(message, "tool_calls")
    for call in calls if isinstance(calls, list | tuple) else ():
        function = _get(call, "function")
        name, arguments = _get(function, "name"), _get(function, "arguments")
        if isinstance(arguments, str):
            # What is no JSON stays text, which the environment answers with what it wants.
            with contextlib.suppress(ValueError, RecursionError):
                arguments = json.loads(arguments or "{}")
        action = {"tool": name, "arguments": {} if arguments is None else arguments}
        found.append((str(_get(call, "id")), action))
    return found


def tool_message(call_id: str, observation: Mapping[str, Any]) -> dict[str, Any]:
    """Return an observation as the message that answers a tool call.

    Args:
        call_id: as `actions_from` gave it.
        observation: what the environment returned.

    Returns:
        A message of the role ``tool``: the last result, and the budget that is left.
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
