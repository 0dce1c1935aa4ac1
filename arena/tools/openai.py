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

import copy
from collections.abc import Iterable
from typing import Any

import gymnasium

from arena.errors import DataError, clip
from arena.tools.base import Parameter, Tool

_TYPES: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "strings": {"type": "array", "items": {"type": "string"}},
    "object": {"type": "object"},
}


def tool_schemas(
    env: gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any],
) -> list[dict[str, Any]]:
    """Return the tools of an environment for the argument ``tools`` of a chat completion.

    Each call makes new objects: changes to them show nowhere else.

    Args:
        env: An environment of this project, wrapped or not, scalar or vector.

    Raises:
        DataError: `env` is another environment.
    """
    space = getattr(env, "single_action_space", None) or getattr(env, "action_space", None)
    tools = getattr(space, "tools", None)
    if not isinstance(tools, dict):
        raise DataError(
            f"{clip(env)} has no tools. Give an environment such as 'arena/Discovery-v0'."
        )
    return schemas_of_tools(tools.values())


def schemas_of_tools(tools: Iterable[Tool]) -> list[dict[str, Any]]:
    """Return tools in the same form as `tool_schemas`."""
    return [_function(tool) for tool in tools]


def _function(tool: Tool) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": {p.name: _schema(p) for p in tool.parameters},
        "required": [p.name for p in tool.parameters if p.required],
        "additionalProperties": False,
    }
    return function_schema(tool.name, tool.description, parameters)


def function_schema(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a tool in the form of `tool_schemas`, from the JSON schema of its arguments."""
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


def _schema(parameter: Parameter) -> dict[str, Any]:
    """Return the JSON schema of an argument."""
    schema = {**copy.deepcopy(_TYPES[parameter.kind]), "description": parameter.description}
    for name, bound in zip(("minimum", "maximum"), parameter.bounds, strict=True):
        if bound is not None:
            schema[name] = bound
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.default is not None:
        schema["default"] = parameter.default
    return schema
