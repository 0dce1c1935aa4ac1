"""What a tool is, and how a call of one is checked."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, get_args

from arena.corpus.view import CorpusView
from arena.errors import ArenaError, DataError, clip
from arena.registry import Registry

_KINDS = {"str": "string", "int": "integer", "list[str]": "strings", "dict[str, Any]": "object"}
_OPTIONAL = " | None"


class ToolError(ArenaError):
    """A call that cannot be carried out; its message is the agent's observation."""


class BudgetError(ToolError):
    """A call for which no budget is left; it ends the episode."""


class Parameter(NamedTuple):
    """One argument of a tool.

    Attributes:
        name: as callers write it.
        kind: ``string``, ``integer``, ``strings`` or ``object``.
        default: what it is when it is left out or null.
        required: whether it must be given.
        description: from the docstring.
        bounds: least and most of an integer; None for no bound.
        choices: the only values that a string may have; empty for any.
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
        result: what the agent gets to see, as a dict or, where that is faster, as JSON text.
        papers: the ids of the papers shown.
    """

    result: dict[str, Any] | str
    papers: Sequence[str]


class Search(NamedTuple):
    """A search that the environment makes, alone or in a batch with others, and lists the hits of.

    Attributes:
        view: where.
        query: what for.
        k: hits at most.
        offset: how many of the best hits are passed over.
    """

    view: CorpusView
    query: str
    k: int
    offset: int = 0


class Tool(NamedTuple):
    """A tool: a plain typed function whose docstring becomes its schema.

    Attributes:
        name: as agents call it.
        function: called as ``function(episode, **arguments)``. Returns a result (a dict that JSON
            can hold), `Shown` if it shows papers, or a `Search` to be made.
        description: of the docstring, all but its sections.
        parameters: in the order of the signature.
    """

    name: str
    function: Callable[..., dict[str, Any] | Shown | Search]
    description: str
    parameters: tuple[Parameter, ...]

    @classmethod
    def of(
        cls,
        function: Callable[..., dict[str, Any] | Shown | Search],
        **bounds: tuple[int | None, int | None],
    ) -> Tool:
        """Make a tool of a function whose first parameter is the episode.

        Args:
            function: its annotations may be ``str``, ``int``, ``list[str]`` and
                ``dict[str, Any]``, or one of them ``| None``; its docstring describes every
                argument under ``Args:``.
            bounds: least and most value of an integer argument.

        Raises:
            DataError: if an argument has another type or no description.
        """
        text = inspect.getdoc(function) or ""
        told = _described(text)
        _, *parameters = inspect.signature(function).parameters.values()
        for p in parameters:
            if _kind(p.annotation) not in _KINDS:
                raise DataError(
                    f"{function.__name__}: {p.name} is annotated {clip(p.annotation)}. Give one of "
                    f"{', '.join(_KINDS)}."
                )
            if p.name not in told:
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
                    told[p.name],
                    bounds.get(p.name, (None, None)),
                )
                for p in parameters
            ),
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


def _described(docstring: str) -> dict[str, str]:
    """Return the description of each argument in a docstring of Google's style."""
    _, _, section = docstring.partition("\nArgs:\n")
    section = re.split(r"\n\S", section)[0]
    found = re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE)
    return {name: " ".join(text.split()) for name, text in found}


TOOLS: Registry[Tool] = Registry(
    "tool", packages=["arena.tools"], entry_points="researcharena.tools"
)
