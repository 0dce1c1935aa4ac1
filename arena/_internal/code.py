"""The hash of the code that makes a result."""

from __future__ import annotations

import hashlib
import inspect
from pathlib import Path
from types import CodeType
from typing import Any


def code_sha256(*extra: Any) -> str:
    """Return the hash of the packages `arena` and `baselines`, and of the modules of `extra`.

    Args:
        extra: classes and functions, of which some may come from elsewhere, such as a user's own
            agent or retriever.
    """
    root = Path(__file__).parents[1]
    files = {}
    for package in (root, root.parent / "baselines"):
        for path in package.rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                files[path.relative_to(root.parent).as_posix()] = path.read_bytes()
    for item in extra:
        if item.__module__.partition(".")[0] not in ("arena", "baselines"):
            files[f"{item.__module__}:{item.__qualname__}"] = _source(item)
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()


def _source(item: Any) -> bytes:
    """Return the module that defines `item`, or, for one typed into a session, its bytecode."""
    try:
        path = inspect.getsourcefile(item)
    except (OSError, TypeError):  # a class of a notebook, for one
        path = None
    if path and Path(path).is_file():
        return Path(path).read_bytes()
    functions = vars(item) if inspect.isclass(item) else {item.__name__: item}
    return repr(
        [
            (name, _bytecode(function.__code__))
            for name, function in sorted(functions.items())
            if inspect.isfunction(function)
        ]
    ).encode()


def _bytecode(code: CodeType) -> list[str]:
    constants = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constants += _bytecode(constant)
        else:  # the order of a set differs from process to process
            constants.append(
                repr(sorted(map(repr, constant)) if isinstance(constant, frozenset) else constant)
            )
    return [code.co_code.hex(), repr(code.co_names), *constants]
