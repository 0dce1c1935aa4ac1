"""Doors: the same episodes in other frameworks, one file each.

A door gives the calls of a framework to a session of `arena.session`, and returns what the session
answers in the framework's form. Its module is imported only when it is named. One that serves has
a function ``serve``, which is the command ``arena serve NAME``.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from contextlib import suppress

from arena.errors import DataError


def servers() -> dict[str, Callable[..., None]]:
    """Return name of each door that serves -> its command; doors without their packages do not."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            with suppress(ImportError, DataError):
                door = importlib.import_module(f"{__name__}.{module.name}")
                found[module.name] = getattr(door, "serve", None)
    return {name: serve for name, serve in found.items() if serve is not None}
