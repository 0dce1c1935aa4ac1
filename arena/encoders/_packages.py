"""Packages that only an encoder or an engine needs: looked for early, imported late."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from importlib import metadata
from typing import Any

from arena.errors import DataError


def require(what: str, *modules: str) -> None:
    """Check that the packages are installed, without importing them.

    Raises:
        DataError: naming the package and the extra to install.
    """
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise DataError(
                f"{what} needs the package {module!r}, which is not installed. "
                "Run: pip install 'researcharena[dense]'"
            )


def load(module: str) -> Any:
    """Import a module; undo what it does to the program's logging.

    wordllama calls `logging.basicConfig` when it is imported, which would make every library
    of the process talk.
    """
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    try:
        return importlib.import_module(module)
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers


def versions(*distributions: str) -> dict[str, str]:
    """Return the installed versions, without importing anything."""
    return {name: metadata.version(name) for name in distributions}
