"""Tool calls: what an agent may write, checked, with an answer for everything else."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from arena.errors import clip, did_you_mean

_KINDS = {"str": "string", "int": "integer", "list[str]": "strings"}
_EXPECTED = {"string": "a string", "integer": "an integer", "strings": "a list of strings"}
_FORM = 'Write {"tool": "search", "arguments": {"query": "..."}}.'


class Parameter(NamedTuple):
    """One argument of a tool: its kind (string, integer, strings) and whether it must be given."""

    kind: str
    required: bool


class Tool(NamedTuple):
    """A tool: a plain typed function whose docstring describes it.

    Attributes:
        name: as agents call it.
        function: called as ``function(episode, **arguments)``; returns the result.
        parameters: name -> `Parameter`, in the order of the signature.
    """

    name: str
    function: Callable[..., dict[str, Any]]
    parameters: dict[str, Parameter]

    @classmethod
    def of(cls, function: Callable[..., dict[str, Any]]) -> Tool:
        """Make a tool of a function whose first parameter is the episode."""
        _, *parameters = inspect.signature(function).parameters.values()
        return cls(
            function.__name__,
            function,
            {
                p.name: Parameter(_KINDS[p.annotation], p.default is inspect.Parameter.empty)
                for p in parameters
            },
        )

    def usage(self) -> str:
        """Return how to call it: ``search(query, k?)``."""
        names = [name + "?" * (not p.required) for name, p in self.parameters.items()]
        return f"{self.name}({', '.join(names)})"


class Call(NamedTuple):
    """A well-formed call."""

    tool: Tool
    arguments: dict[str, Any]


def parse_action(action: object, tools: Mapping[str, Tool]) -> Call | str:
    """Return the call that `action` stands for, or one sentence on what is wrong with it.

    Args:
        action: a mapping with ``tool`` and ``arguments``, or the same as JSON text.
        tools: the known tools by name.
    """
    if isinstance(action, str | bytes):
        try:
            action = json.loads(action)
        except (ValueError, RecursionError):
            return f"the action {clip(action)} is no JSON. {_FORM}"
    if not isinstance(action, Mapping):
        return f"the action {clip(action)} is no object. {_FORM}"
    if extra := [key for key in action if key not in ("tool", "arguments")]:
        return f"an action has no key {clip(extra[0])}. {_FORM}"
    name, arguments = action.get("tool"), action.get("arguments", {})
    if not isinstance(name, str) or name not in tools:
        return f"no tool {clip(name)}.{did_you_mean(name, tools)}"
    tool = tools[name]
    if not isinstance(arguments, Mapping):
        return f"arguments={clip(arguments)} is no object. Call {tool.usage()}."
    checked = {}
    for key, value in arguments.items():
        if not isinstance(key, str) or key not in tool.parameters:
            return f"{name} takes no argument {clip(key)}. Call {tool.usage()}."
        kind = tool.parameters[key].kind
        if not _fits(value, kind):
            return f"{key}={clip(value)} is not {_EXPECTED[kind]}. Call {tool.usage()}."
        checked[key] = int(value) if kind == "integer" else value
    for key, parameter in tool.parameters.items():
        if parameter.required and key not in checked:
            return f"{name} needs the argument {key!r}. Call {tool.usage()}."
    return Call(tool, checked)


def _fits(value: object, kind: str) -> bool:
    if kind == "string":
        return isinstance(value, str)
    if kind == "integer":
        return isinstance(value, int | np.integer) and not isinstance(value, bool)
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
