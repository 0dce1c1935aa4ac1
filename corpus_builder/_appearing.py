"""A directory that appears whole, also where two copies of one task write it at the same time."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_MAKING = ".making"


@contextmanager
def appearing(directory: Path) -> Iterator[Path]:
    """Lend an empty directory that becomes `directory` when the block succeeds.

    If another copy of the task was faster, what it made stays: the two are equal.
    """
    new = directory.with_name(f".{directory.name}.{secrets.token_hex(4)}{_MAKING}")
    new.mkdir(parents=True)
    try:
        yield new
        with suppress(OSError):
            new.rename(directory)
    finally:
        if new.exists():
            shutil.rmtree(new, ignore_errors=True)
    if not directory.is_dir():
        raise OSError(f"cannot rename {str(new)!r} to {str(directory)!r}")


def clear_making(directory: Path) -> None:
    """Remove what killed tasks have left below `directory`."""
    for path in directory.rglob(f".*{_MAKING}"):
        shutil.rmtree(path, ignore_errors=True)
