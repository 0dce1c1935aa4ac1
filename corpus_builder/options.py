"""Command-line options of sources, one for each parameter of their constructor."""

from __future__ import annotations

import argparse
from typing import Self

from arena._internal.options import Option, options_of
from arena.cli.app import add_argument


class ConstructorOptions:
    """A class that ``arena-corpus build`` makes from options named like its parameters.

    The options are as `arena.cli.app` describes them. The help of an option is the entry of the
    parameter under "Args:" in the docstring of the class, or its attribute ``NAME_help``.
    """

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add an option for each parameter of the constructor."""
        for option in cls._options():
            add_argument(parser, option)

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Self:
        """Make the source from the parsed options."""
        return cls(**{each.name: getattr(arguments, each.name) for each in cls._options()})

    @classmethod
    def _options(cls) -> list[Option]:
        return [
            Option(p.replace(kind=p.KEYWORD_ONLY), metavar, getattr(cls, f"{p.name}_help", text))
            for p, metavar, text in options_of(cls)
            if p.kind is not p.VAR_POSITIONAL
        ]
