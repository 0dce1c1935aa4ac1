"""The command-line options of a source, derived from its constructor."""

from __future__ import annotations

import argparse
import inspect
import re
from pathlib import Path
from typing import Any, Self, get_args, get_type_hints

from arena.cli.app import parse_names


class ConstructorOptions:
    """A class that ``arena-corpus build`` makes from options named like its parameters.

    A parameter without a default is a required option, a ``bool`` is a flag (``--no-NAME`` if it is
    true by default), a tuple is a list of names with commas. The help of an option is the entry of
    the parameter under "Args:" in the docstring of the class, or its attribute ``NAME_help``.
    """

    @classmethod
    def add_arguments(cls, parser: argparse.ArgumentParser) -> None:
        """Add an option for each parameter of the constructor."""
        hints, descriptions = get_type_hints(cls.__init__), argument_descriptions(cls)
        for name, parameter in inspect.signature(cls).parameters.items():
            option, hint = name.replace("_", "-"), hints[name]
            settings: dict[str, Any] = {
                "dest": name,
                "help": getattr(cls, f"{name}_help", descriptions.get(name, "")).replace("%", "%%"),
            }
            if hint is bool:
                prefix = "no-" if parameter.default else ""
                action = "store_false" if parameter.default else "store_true"
                parser.add_argument(f"--{prefix}{option}", action=action, **settings)
                continue
            kinds = {*get_args(hint), hint}
            if any(getattr(kind, "__origin__", None) is tuple for kind in kinds):
                settings |= {"type": parse_names, "metavar": "NAMES"}
            else:
                number = next((kind for kind in (int, float) if kind in kinds), None)
                text = "PATH" if Path in kinds else "NAME"
                settings |= {"type": number or str, "metavar": "N" if number else text}
            if parameter.default is inspect.Parameter.empty:
                settings["required"] = True
            parser.add_argument(f"--{option}", **settings)

    @classmethod
    def from_arguments(cls, arguments: argparse.Namespace) -> Self:
        """Make the source from the parsed options.

        Raises:
            DataError: If an option is out of range.
        """
        names = inspect.signature(cls).parameters
        return cls(**{name: getattr(arguments, name) for name in names})


def argument_descriptions(kind: type) -> dict[str, str]:
    """Return the entries under "Args:" in the docstrings of a class and its parents."""
    descriptions: dict[str, str] = {}
    for parent in reversed(kind.__mro__):
        section = inspect.cleandoc(parent.__doc__ or "").partition("\nArgs:\n")[2]
        section = re.split(r"\n\S", section)[0]
        for name, text in re.findall(r"^ {4}(\w+): (.*(?:\n {8}.*)*)", section, re.MULTILINE):
            text = " ".join(text.replace("``", "").split()).rstrip(".")
            acronym = text[:2].isupper()
            descriptions[name] = text if acronym else text[0].lower() + text[1:]
    return descriptions
