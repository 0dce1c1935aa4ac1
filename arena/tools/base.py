"""Tools: plain typed functions whose docstrings become their schemas.

The schemas are those of OpenAI's chat completions, which most servers of models speak:

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
import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

import gymnasium

from arena.corpus.view import CorpusView
from arena.errors import ArenaError, DataError, clip
from arena.registry import Registry

_KINDS = {"str": "string", "int": "integer", "list[str]": "strings", "dict[str, Any]": "object"}
_TYPES: dict[str, dict[str, Any]] = {
    "string": {"type": "string"},
    "integer": {"type": "integer"},
    "strings": {"type": "array", "items": {"type": "string"}},
    "object": {"type": "object"},
}
_OPTIONAL = " | None"


class ToolError(ArenaError):
    """A call that cannot be carried out; its message is the agent's observation."""


class BudgetError(ToolError):
    """A call for which no budget is left; it ends the episode."""


class Parameter(NamedTuple):
    """One argument of a tool.

    Attributes:
        name: Name of the argument.
        kind: ``string``, ``integer``, ``strings`` or ``object``.
        default: Value of an argument that is left out or null.
        required: Whether a call must have the argument.
        description: Its entry in the docstring.
        bounds: Least and most value of an integer; None for no bound.
        choices: The values that a string may have; empty for any.
    """

    name: str
    kind: str
    default: Any
    required: bool
    description: str
    bounds: tuple[int | None, int | None] = (None, None)
    choices: tuple[str, ...] = ()


class Shown(NamedTuple):
    """A result that shows papers; its characters count against the budget.

    Attributes:
        result: The result that the agent sees, as a dict or, where that is faster, as JSON text.
        papers: Ids of the papers that it shows.
    """

    result: dict[str, Any] | str
    papers: Sequence[str]


class Search(NamedTuple):
    """A search that the environment makes, alone or in a batch with others.

    Attributes:
        view: View to search.
        query: Query text.
        k: Most hits to list.
        offset: Number of best hits to leave out before the first.
    """

    view: CorpusView
    query: str
    k: int
    offset: int = 0


class Tool(NamedTuple):
    """A tool: a plain typed function whose docstring becomes its schema.

    Attributes:
        name: Name that agents call it by.
        function: Called as ``function(episode, **arguments)``. Returns a result (a dict that JSON
            can hold), `Shown` if it shows papers, or a `Search` that the environment makes.
        description: The docstring without its sections.
        parameters: Parameters in the order of the signature.
        tasks: Names of the tasks, or of stages of tasks, that offer the tool besides those whose
            `Task.tools` name it.
    """

    name: str
    function: Callable[..., dict[str, Any] | Shown | Search]
    description: str
    parameters: tuple[Parameter, ...]
    tasks: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        function: Callable[..., dict[str, Any] | Shown | Search],
        tasks: Sequence[str] = (),
        **bounds: tuple[int | None, int | None],
    ) -> Tool:
        """Make a tool of a function whose first parameter is the episode.

        Args:
            function: Function whose annotations are ``str``, ``int``, ``list[str]`` or
                ``dict[str, Any]``, or one of them ``| None``, and whose docstring describes every
                argument under ``Args:``.
            tasks: Names of the tasks, or of stages of tasks, that offer the tool.
            bounds: Least and most value of an integer argument.

        Raises:
            DataError: An argument has another type or no description.
        """
        text = inspect.getdoc(function) or ""
        descriptions = _descriptions(text)
        _, *parameters = inspect.signature(function).parameters.values()
        for p in parameters:
            if _kind(p.annotation) not in _KINDS:
                raise DataError(
                    f"{function.__name__}: {p.name} is annotated {clip(p.annotation)}. Give one of "
                    f"{', '.join(_KINDS)}."
                )
            if p.name not in descriptions:
                raise DataError(f"{function.__name__}: describe {p.name!r} under 'Args:'.")
        return cls(
            function.__name__,
            function,
            " ".join(re.split(r"\n\s*\n(?:Args|Returns|Raises):", text)[0].split()),
            tuple(
                Parameter(
                    p.name,
                    _KINDS[_kind(p.annotation)],
                    None if p.default is inspect.Parameter.empty else p.default,
                    p.default is inspect.Parameter.empty,
                    descriptions[p.name],
                    bounds.get(p.name, (None, None)),
                )
                for p in parameters
            ),
            tuple(tasks),
        )

    def narrowed(
        self, bounds: Mapping[str, tuple[int, int]], choices: Mapping[str, Sequence[str]]
    ) -> Tool:
        """Return the tool with the bounds and choices of one environment.

        A default beyond the bounds is moved to the nearest of them.
        """
        return self._replace(
            parameters=tuple(
                p._replace(
                    default=_clamped(p.default, *bounds[p.name]) if p.name in bounds else p.default,
                    bounds=bounds.get(p.name, p.bounds),
                    choices=tuple(choices.get(p.name, p.choices)),
                )
                for p in self.parameters
            )
        )

    def usage(self) -> str:
        """Return how to call it: ``search(query, k?)``."""
        names = [p.name + "?" * (not p.required) for p in self.parameters]
        return f"{self.name}({', '.join(names)})"


def _clamped(default: int | None, least: int, most: int) -> int | None:
    return None if default is None else min(max(default, least), most)


def _kind(annotation: Any) -> str:
    """Return an annotation as it is written, whether its evaluation was postponed or not."""
    name = annotation.__name__ if isinstance(annotation, type) and not get_args(annotation) else ""
    text = name or str(annotation).replace("typing.", "")
    return text.removesuffix(_OPTIONAL)


def _descriptions(docstring: str) -> dict[str, str]:
    """Return the description of each argument in a docstring of Google's style."""
    _, _, section = docstring.partition("\nArgs:\n")
    section = re.split(r"\n\S", section)[0]
    entries = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in entries}


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
    schemas = []
    for tool in tools:
        parameters = {
            "type": "object",
            "properties": {p.name: _schema(p) for p in tool.parameters},
            "required": [p.name for p in tool.parameters if p.required],
            "additionalProperties": False,
        }
        schemas.append(function_schema(tool.name, tool.description, parameters))
    return schemas


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


TOOLS: Registry[Tool] = Registry(
    "tool", packages=["arena.tools"], entry_points="researcharena.tools", base=Tool
)
