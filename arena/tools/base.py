"""Tools: plain typed functions whose docstrings become their schemas.

The schemas are those of OpenAI's chat completions, which most servers of models speak; for a loop
with a model see docs/tools.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Optional, TypeVar

import gymnasium
import numpy as np
from annotated_types import Interval

from arena.corpus.view import CorpusView
from arena.errors import ArenaError, DataError, clip, did_you_mean
from arena.kit.files import read_json
from arena.kit.options import check_described, options_of, read_docstring
from arena.plugins import Registry, mirror

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

_EXPECTED = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list of strings",
    "object": "an object",
}
# Of JSON schema, in the order in which models see them.
_KEYWORDS = (
    "type", "items", "description", "minimum", "maximum", "minItems", "maxItems", "enum", "default",
)  # fmt: skip
_FORM = 'Write {"tool": "search", "arguments": {"query": "..."}}.'
_PLAIN = {str, int, bool, list, type(None)}


class ToolError(ArenaError):
    """A call that cannot be carried out; its message is the agent's observation."""


class BudgetError(ToolError):
    """A call for which no budget is left; it ends the episode.

    `budget` is the name of the budget, such as ``searches``.
    """

    def __init__(self, message: str, budget: str = "budget") -> None:
        super().__init__(message)
        self.budget = budget


class Parameter(NamedTuple):
    """One argument of a tool; `default` is ``...`` if a call must have the argument."""

    name: str
    annotation: Any
    default: Any
    description: str


class ToolResult(NamedTuple):
    """A result that shows papers; its characters count against the budget.

    Attributes:
        result: The result that the agent sees, as a dict or, where that is faster, as JSON text.
        papers: Ids of the papers that it shows.
    """

    result: dict[str, Any] | str
    papers: Sequence[str]


class Search(NamedTuple):
    """A search that the environment makes, alone or in a batch, without the best `offset` hits.

    The hits of several queries are fused into one list, or else are a list for each query.
    """

    view: CorpusView
    queries: tuple[str, ...]
    k: int
    offset: int = 0
    fuse: bool = True


@dataclass(frozen=True)
class Tool:
    """A tool: a plain typed function whose docstring becomes its schema.

    Attributes:
        name: Name that agents call it by.
        function: Called as ``function(episode, **arguments)``. Returns a result (a dict of JSON
            values), `ToolResult` if it shows papers, or a `Search` that the environment makes.
        description: The docstring without its sections.
        parameters: Parameters in the order of the signature.
        either: Optional arguments of which a call has one, the usual one first.
    """

    name: str
    function: Callable[..., dict[str, Any] | ToolResult | Search]
    description: str
    parameters: tuple[Parameter, ...]
    either: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        mirror(self, self.function)

    @classmethod
    def from_function(
        cls,
        function: Callable[..., dict[str, Any] | ToolResult | Search],
        either: Sequence[str] = (),
        name: str = "",
    ) -> Tool:
        """Make a tool of a function whose first parameter is the episode.

        Args:
            function: Function whose annotations are ``str``, ``int``, ``float``, ``bool``,
                ``list[str]`` or ``dict[str, Any]``, or one of them ``| None``, with bounds as in
                ``Annotated[int, Interval(ge=1, le=100)]``; and whose docstring describes every
                argument under ``Args:``.
            either: Optional arguments of which a call has one, the usual one first; the function
                itself refuses others.
            name: Name of the tool; by default that of the function.
        """
        _, *options = options_of(function)
        check_described(function.__name__, options)
        tool = cls(
            name or function.__name__,
            function,
            read_docstring(function).text,
            tuple(
                Parameter(p.name, p.annotation, ... if p.default is p.empty else p.default, text)
                for p, _, text in options
            ),
            tuple(either),
        )
        for p, part in zip(tool.parameters, tool.schema["properties"].values(), strict=True):
            items = part.get("items", {"type": "string"}).get("type")
            if part.get("type") not in _EXPECTED or items != "string":
                raise DataError(
                    f"{tool.name}: {p.name} is annotated {clip(p.annotation)}. Give one of "
                    "str, int, float, bool, list[str], dict[str, Any]."
                )
        return tool

    def narrowed(
        self, bounds: Mapping[str, tuple[int, int]], choices: Mapping[str, Sequence[str]]
    ) -> Tool:
        """Return the tool with the bounds and choices of one environment.

        A default beyond the bounds is moved to the nearest of them.
        """
        parameters = []
        for p in self.parameters:
            if p.name in bounds:
                least, most = bounds[p.name]
                kind = Annotated[int, Interval(ge=least, le=most)]
                p = p._replace(annotation=kind, default=min(max(p.default, least), most))
            elif p.name in choices:
                p = p._replace(annotation=Optional[Literal[tuple(choices[p.name])]])  # noqa: UP045
            parameters.append(p)
        return replace(self, parameters=tuple(parameters))

    @cached_property
    def model(self) -> type[BaseModel]:
        """The arguments as a pydantic model, which checks calls and gives the schema."""
        from pydantic import ConfigDict, Field, WithJsonSchema, create_model

        # Models write an object as text now and then; its tool reads both.
        either = Annotated[dict[str, Any] | str, WithJsonSchema({"type": "object"})]
        fields: dict[str, Any] = {
            p.name: (
                either if p.annotation == dict[str, Any] else p.annotation,
                Field(default=p.default, description=p.description),
            )
            for p in self.parameters
        }
        form = ConfigDict(strict=True, extra="forbid", arbitrary_types_allowed=True)
        return create_model(self.name, __config__=form, **fields)

    @cached_property
    def check(self) -> Callable[[dict[str, Any]], Any]:
        """The compiled check of `model`, which raises a ValueError."""
        return self.model.__pydantic_validator__.validate_python

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        full = self.model.model_json_schema()
        parts = {}
        for p in self.parameters:
            part = full["properties"][p.name]
            for form in part.get("anyOf", ()):  # that of a default of None says nothing
                part |= form if form != {"type": "null"} else {}
            if "const" in part:
                part["enum"] = [part["const"]]
            shown = {name: part[name] for name in _KEYWORDS if part.get(name) is not None}
            parts[p.name] = shown
        return {
            "type": "object",
            "properties": parts,
            "required": [p.name for p in self.parameters if p.default is ...],
            "additionalProperties": False,
        }

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the model, a class of no module; it is made again."""
        return {name: vars(self)[name] for name in self.__dataclass_fields__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        mirror(self, self.function)

    def usage(self) -> str:
        """Return how to call it: ``search(query, k?)``."""
        usual = self.either[:1]
        names = [
            p.name + "?" * (p.default is not ... and p.name not in usual) for p in self.parameters
        ]
        return f"{self.name}({', '.join(names)})"


def tool_schemas(
    env: gymnasium.Env[Any, Any] | gymnasium.vector.VectorEnv[Any, Any, Any],
) -> list[dict[str, Any]]:
    """Return the tools of an environment for the argument ``tools`` of a chat completion.

    Each call makes new objects: changes to them show nowhere else.

    Args:
        env: An environment of this project, wrapped or not, scalar or vector.
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
    return [
        function_schema(tool.name, tool.description, json.loads(json.dumps(tool.schema)))
        for tool in tools
    ]


def function_schema(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return a tool in the form of `tool_schemas`, from the JSON schema of its arguments."""
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}


class Call(NamedTuple):
    """A well-formed call."""

    tool: Tool
    arguments: dict[str, Any]


def parse_action(action: object, tools: Mapping[str, Tool]) -> Call | str:
    """Return the call that `action` stands for, or one sentence on what is wrong with it."""
    value: Any = action if isinstance(action, str) or _is_plain(action) else json_action(action)
    if isinstance(value, str):
        try:
            value = read_json(value)
        except ValueError:
            return f"the action {clip(value)} is not JSON. {_FORM}"
    if not isinstance(value, dict):
        return f"the action {clip(value)} is not an object. {_FORM}"
    value = usual_call(value)
    if extra := value.keys() - {"tool", "arguments"}:
        return f"an action has no key {clip(min(extra, key=str))}. {_FORM}"
    name, arguments = value.get("tool"), value.get("arguments", {})
    if not isinstance(name, str) or name not in tools:
        return f"no tool {clip(name)}.{did_you_mean(name, tools)}"
    tool = tools[name]
    if not isinstance(arguments, dict):
        return f"arguments={clip(arguments)} is not an object. Call {tool.usage()}."
    try:
        return Call(tool, vars(tool.check(arguments)))
    except ValueError:
        pass
    parts, required = tool.schema["properties"], tool.schema["required"]
    # Models write 10.0 or "10" for 10; null leaves an argument out.
    given = {
        key: _integer(value) if parts.get(key, {}).get("type") == "integer" else value
        for key, value in arguments.items()
        if value is not None or key in required or key not in parts
    }
    from pydantic import ValidationError

    try:
        return Call(tool, vars(tool.check(given)))
    except ValidationError as error:
        return _refusal(tool, error)


def usual_call(call: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a call as ``{"tool": name, "arguments": {...}}`` if it has the form of OpenAI's.

    That has ``name`` in place of ``tool``, and its arguments are JSON text.
    """
    if "name" in call and "tool" not in call:
        call = {"tool" if key == "name" else key: value for key, value in call.items()}
    if isinstance(text := call.get("arguments"), str):
        with suppress(ValueError):
            call = {**call, "arguments": read_json(text or "{}")}
    return call


def _integer(value: Any) -> Any:
    """Return the integer that a number or a text of digits stands for; all else as it is."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return int(value) if isinstance(value, str) and re.fullmatch("-?[0-9]{1,18}", value) else value


def _is_plain(action: object) -> bool:
    """Return whether `action` is a call of JSON values as it is, as most are."""
    if type(action) is not dict or type(action.get("arguments")) is not dict:
        return False
    return _PLAIN.issuperset(map(type, action["arguments"].values()))


def _refusal(tool: Tool, error: ValidationError) -> str:
    """Return what is wrong with the arguments of a call, first things first."""
    first = error.errors(include_url=False)[0]
    if not first["loc"]:  # the name of an argument has half of a surrogate pair
        return f"{tool.name} takes no argument {clip(first['input'])}. Call {tool.usage()}."
    name, kind, value = first["loc"][0], first["type"], first["input"]
    if kind == "missing":
        return f"{tool.name} needs the argument {name!r}. Call {tool.usage()}."
    part = tool.schema["properties"].get(name)
    if part is None:
        return f"{tool.name} takes no argument {clip(name)}. Call {tool.usage()}."
    if kind == "literal_error" and isinstance(value, str):
        return f"no {name} {clip(value)}.{did_you_mean(value, part['enum'])}"
    if kind in ("greater_than_equal", "less_than_equal"):
        least, most = part.get("minimum"), part.get("maximum")
        span = f"{least} or more" if most is None else f"from {least} to {most}"
        return f"{name}={clip(value)} is out of range. Give {name} {span}."
    if kind in ("too_short", "too_long"):
        return f"{name} has {len(value)} texts. Give {part['minItems']} to {part['maxItems']}."
    return f"{name}={clip(value)} is not {_EXPECTED[part['type']]}. Call {tool.usage()}."


_CANNOT = "JSON cannot hold"


def json_action(action: object) -> Any:
    """Return `action` as a JSON value, which is what a run plays and records.

    Tuples become lists, mappings objects, NumPy's numbers numbers, and bytes text. An action that
    JSON cannot hold becomes a text that says why; an environment refuses it as any other text that
    is not JSON.
    """
    try:
        if isinstance(action, bytes):
            action = action.decode()
        return json.loads(json.dumps(action, allow_nan=False, default=_to_json))
    except (TypeError, ValueError, RecursionError) as error:
        # The words of Python's own errors differ between its versions.
        return f"({error})" if str(error).startswith(_CANNOT) else f"({_CANNOT} this action)"


def _to_json(item: object) -> object:
    if isinstance(item, np.bool_ | np.integer | np.floating):
        return item.item()
    if isinstance(item, Mapping):
        return dict(item)
    raise TypeError(f"{_CANNOT} a {type(item).__name__}")


def _made(name: str, item: Tool | Callable[..., Any]) -> Tool:
    return item if isinstance(item, Tool) else Tool.from_function(item, name=name)


TOOLS: Registry[Tool] = Registry("tool", packages=["arena.tools"], base=Tool, make=_made)


_F = TypeVar("_F", bound=Callable[..., dict[str, Any] | ToolResult | Search])


def tool(name: str, *, either: Sequence[str] = ()) -> Callable[[_F], _F]:
    """Return a decorator that registers a function as a `Tool`, see `Tool.from_function`."""

    def register(function: _F) -> _F:
        TOOLS.register(name)(Tool.from_function(function, either, name))
        return function

    return register
