"""Command-line options of sources, one for each parameter of their constructor."""

from __future__ import annotations

import argparse
import inspect
from pathlib import Path
from typing import Self, get_args

from arena._internal.options import parameters_of
from arena.cli.app import add_argument, read_docstring


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
            usual = "PATH" if Path in kinds else "NAME" if str in kinds else ""
            metavar, text = descriptions.get(name, ("", ""))
            add_argument(parser, parameter, metavar or usual, getattr(cls, f"{name}_help", text))

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Self:
        """Make the source from the parsed options."""
        return cls(**{p.name: getattr(arguments, p.name) for p in cls._parameters()})

    @classmethod
    def _parameters(cls) -> list[inspect.Parameter]:
        known = parameters_of(cls).values()
        return [p.replace(kind=p.KEYWORD_ONLY) for p in known if p.kind is not p.VAR_POSITIONAL]


def argument_descriptions(kind: type) -> dict[str, tuple[str, str]]:
    """Return metavar and text of each entry under "Args:" of a class and its parents."""
    helps = [read_docstring(inspect.getdoc(parent) or "")[1] for parent in reversed(kind.__mro__)]
    return {name: entry for entries in helps for name, entry in entries.items()}
