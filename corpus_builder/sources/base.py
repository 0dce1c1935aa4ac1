"""The interface of sources of papers, their registry, and their command-line options."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self, get_args

from arena.cli.app import add_argument, read_docstring
from arena.registry import Registry

if TYPE_CHECKING:
    from corpus_builder.release import Release


class LocatedRecord(NamedTuple):
    """A raw record with its file and line, for messages: ``papers.jsonl line 7``."""

    record: Any
    file: str
    line: int


class Source(Protocol):
    """Papers and surveys as raw records; `corpus_builder.records` lists the keys.

    ``arena-corpus build`` makes a source from its options: a subclass of `ConstructorOptions` has
    one for each parameter of its constructor.
    """

    example: ClassVar[str]
    """Options for the example in the help text."""

    def papers(self) -> Iterator[LocatedRecord]:
        """Yield every paper once, in any order."""
        ...

    def surveys(self) -> Iterator[LocatedRecord]:
        """Yield every survey once, in any order."""
        ...

    def describe(self) -> dict[str, Any]:
        """Return the manifest's description of the source; called after reading."""
        ...


SOURCES: Registry[type[Source] | type[Release]] = Registry(
    "source", packages=["corpus_builder.sources"], entry_points="researcharena.sources"
)


class ConstructorOptions:
    """A class that ``arena-corpus build`` makes from options named like its parameters.

    The options are as `arena.cli.app` describes them. The help of an option is the entry of the
    parameter under "Args:" in the docstring of the class, or its attribute ``NAME_help``.
    """

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add an option for each parameter of the constructor."""
        descriptions = argument_descriptions(cls)
        for parameter in cls._parameters():
            name, kinds = parameter.name, {parameter.annotation, *get_args(parameter.annotation)}
            metavar = "PATH" if Path in kinds else "NAME" if str in kinds else ""
            text = getattr(cls, f"{name}_help", descriptions.get(name, ""))
            add_argument(parser, parameter, metavar, text)

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Self:
        """Make the source from the parsed options.

        Raises:
            DataError: If an option is out of range.
        """
        return cls(**{p.name: getattr(arguments, p.name) for p in cls._parameters()})

    @classmethod
    def _parameters(cls) -> list[inspect.Parameter]:
        parameters = inspect.signature(cls, eval_str=True).parameters.values()
        return [parameter.replace(kind=parameter.KEYWORD_ONLY) for parameter in parameters]


def argument_descriptions(kind: type) -> dict[str, str]:
    """Return the entries under "Args:" in the docstrings of a class and its parents."""
    helps = [read_docstring(inspect.getdoc(parent) or "")[1] for parent in reversed(kind.__mro__)]
    return {name: text for entries in helps for name, (_, text) in entries.items()}
