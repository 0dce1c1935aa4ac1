"""Putting a finished directory in its place, whole, instead of an old one or none."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

from arena.corpus import layout

REPLACED = "replaced"
"""Where, beside the new directory, the old one waits while two renames are needed."""


def put(new: Path, output: Path) -> Path | None:
    """Move the directory `new` to `output`; return where the one that was there is now, if any."""
    old = None
    if not output.exists() or not any(output.iterdir()):
        new.rename(output)  # the system refuses if there is more than an empty directory by now
    elif _exchange(new, output):
        old = new
    else:
        old = new.with_name(REPLACED)
        output.rename(old)
        try:
            new.rename(output)
        except BaseException:
            old.rename(output)
            raise
    _sync_one(output.parent)
    return old


def take_back(new: Path, output: Path, old: Path | None) -> None:
    """Undo ``old = put(new, output)``."""
    if old == new and _exchange(new, output):
        return
    output.rename(new)
    if old is not None:
        old.rename(output)


def _exchange(first: Path, second: Path) -> bool:
    """Swap two directories in one step, where the system can: Linux, most file systems."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(renameat2(here, os.fsencode(first), here, os.fsencode(second), exchange) == 0)


def restore(building: Path, output: Path) -> None:
    """Put back what a killed build had just moved away."""
    replaced = building / REPLACED
    if (replaced / layout.MANIFEST).is_file() and not output.exists():
        replaced.rename(output)


def sync(directory: Path) -> None:
    """Make all files and names reach the disk before the rename does."""
    for path in directory.rglob("*"):
        _sync_one(path)
    _sync_one(directory)


def _sync_one(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
