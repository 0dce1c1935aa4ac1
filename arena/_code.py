"""The hash of the code that makes a result."""

from __future__ import annotations

import hashlib
import inspect
from pathlib import Path
from typing import Any

_SUFFIXES = (".py", ".yaml", ".txt", ".md", ".j2")


def code_sha256(*extra: Any) -> str:
    """Return the hash of the packages `arena` and `baselines`, and of the modules of `extra`.

    Args:
        extra: classes and functions, of which some may come from elsewhere, such as a user's own
            agent or retriever.
    """
    root = Path(__file__).parent
    files = {}
    for package in (root, root.parent / "baselines"):
        for path in package.rglob("*"):
            if path.suffix in _SUFFIXES and path.is_file():
                files[path.relative_to(root.parent).as_posix()] = path
    for item in extra:
        if item.__module__.partition(".")[0] not in ("arena", "baselines"):
            source = inspect.getsourcefile(item)
            if source:
                files[f"{item.__module__}:{Path(source).name}"] = Path(source)
    digest = hashlib.sha256()
    for name in sorted(files):
        digest.update(f"{name}\0{hashlib.sha256(files[name].read_bytes()).hexdigest()}\n".encode())
    return digest.hexdigest()
