"""The hash of the code that makes a result."""

from __future__ import annotations

import hashlib
import inspect
from pathlib import Path
from typing import Any

from arena.errors import DataError


def code_sha256(*extra: Any) -> str:
    """Return the hash of the packages `arena` and `baselines`, and of the modules of `extra`.

    Args:
        extra: classes and functions, of which some may come from elsewhere, such as a user's own
            agent or retriever.

    Raises:
        DataError: if the source of one of them cannot be found.
    """
    root = Path(__file__).parent
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
    """Return the module that defines `item`, or, in a notebook, its own lines."""
    try:
        path = inspect.getsourcefile(item)
        if path and Path(path).is_file():
            return Path(path).read_bytes()
        return inspect.getsource(item).encode()
    except (OSError, TypeError):
        raise DataError(
            f"the code of {item.__qualname__} cannot be found, so a run could not name it. "
            "Define it in a file."
        ) from None
