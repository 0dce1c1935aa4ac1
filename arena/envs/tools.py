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

    name: str
    kind: str
    required: bool


class Tool(NamedTuple):
    """A tool: a plain typed function whose docstring describes it.

    Attributes:
        name: as agents call it.
        function: called as ``function(episode, **arguments)``; returns the result.
        parameters: in the order of the signature.
    """

    name: str
    function: Callable[..., dict[str, Any]]
    parameters: tuple[Parameter, ...]

    @classmethod
    def of(cls, function: Callable[..., dict[str, Any]]) -> Tool:
        """Make a tool of a function whose first parameter is the episode."""
        _, *parameters = inspect.signature(function).parameters.values()
        return cls(
            function.__name__,
            function,
            tuple(
                Parameter(p.name, _KINDS[p.annotation], p.default is inspect.Parameter.empty)
                for p in parameters
            ),
        )

    def usage(self) -> str:
        """Return how to call it: ``search(query, k?)``."""
        names = [p.name + "?" * (not p.required) for p in self.parameters]
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
    name, arguments = _plain(action.get("tool")), action.get("arguments", {})
    if not isinstance(name, str) or name not in tools:
        return f"no tool {clip(name)}.{did_you_mean(name, tools)}"
    tool = tools[name]
    if not isinstance(arguments, Mapping):
        return f"arguments={clip(arguments)} is no object. Call {tool.usage()}."
    given = {_plain(key): value for key, value in arguments.items()}
    checked = {}
    for parameter in tool.parameters:
        if parameter.name in given:
            value = given.pop(parameter.name)
            checked[parameter.name] = converted = _converted(value, parameter.kind)
            if converted is None:
                return (
                    f"{parameter.name}={clip(value)} is not {_EXPECTED[parameter.kind]}. "
                    f"Call {tool.usage()}."
                )
        elif parameter.required:
            return f"{name} needs the argument {parameter.name!r}. Call {tool.usage()}."
    if given:
        return f"{name} takes no argument {clip(next(iter(given)))}. Call {tool.usage()}."
    return Call(tool, checked)


def _converted(value: object, kind: str) -> Any:
    """Return `value` as exactly the type that `kind` names, or None if it is none."""
    if kind == "string":
        return _plain(value) if isinstance(value, str) else None
    if kind == "integer":
        number = isinstance(value, int | np.integer) and not isinstance(value, bool)
        return int(value) if number else None  # type: ignore[call-overload]
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return [_plain(item) for item in value]
    return None


def _plain(value: object) -> Any:
    """Return a string as a `str` itself: a subclass may bring an equality of its own."""
    return str.__str__(value) if isinstance(value, str) else value
