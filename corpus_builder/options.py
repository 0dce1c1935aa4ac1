"""Command-line options of sources, one for each parameter of their constructor."""

from __future__ import annotations

import argparse
import inspect
from pathlib import Path
from typing import Self, get_args

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
            metavar = "PATH" if Path in kinds else "NAME" if str in kinds else ""
            text = getattr(cls, f"{name}_help", descriptions.get(name, ""))
            add_argument(parser, parameter, metavar, text)

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Self:
        """Make the source from the parsed options."""
        return cls(**{p.name: getattr(arguments, p.name) for p in cls._parameters()})

    @classmethod
    def _parameters(cls) -> list[inspect.Parameter]:
        """Return the parameters of the constructors of the class and its parents."""
        kinds = [kind for kind in reversed(cls.__mro__) if "__init__" in vars(kind)]
        signatures = [inspect.signature(vars(kind)["__init__"], eval_str=True) for kind in kinds]
        return [
            parameter.replace(kind=parameter.KEYWORD_ONLY)
            for signature in signatures
            for parameter in list(signature.parameters.values())[1:]
            if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        ]


def argument_descriptions(kind: type) -> dict[str, str]:
    """Return the entries under "Args:" in the docstrings of a class and its parents."""
    helps = [read_docstring(inspect.getdoc(parent) or "")[1] for parent in reversed(kind.__mro__)]
    return {name: text for entries in helps for name, (_, text) in entries.items()}
