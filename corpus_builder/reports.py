"""Reports of completed work: JSON files that count only if they are as they were written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from arena._internal.files import sha256_json, write_json
from arena.errors import ArenaError


def write_report(path: Path, key: Any, report: Any) -> None:
    """Write what a piece of work has done.

    Args:
        path: Path of the file.
        key: JSON values that name the work and its inputs.
        report: JSON values.
    """
    write_json(path, {"key": sha256_json([key, report]), "report": report})


def read_report(path: Path, key: Any) -> Any:
    """Return the report that was written for `key`; None if it is missing, outdated or damaged.

    Whoever gets None does the work again, so a damaged report costs time and nothing else.
    """
    try:
        entry = json.loads(path.read_bytes())
        if entry["key"] == sha256_json([key, entry["report"]]):
            return entry["report"]
    except (OSError, ValueError, LookupError, TypeError, RecursionError, ArenaError):
        pass
    return None
