"""One writer at a time."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from arena.errors import ArenaError, CorpusError


@contextmanager
def only_writer(lock: Path, output: Path) -> Iterator[None]:
    """Hold the file `lock` while writing `output`; the system frees it even after a kill.

    Raises:
        CorpusError: if `lock` is a file with content, which a lock never has.
        ArenaError: if another process holds it.
    """
    if lock.exists() and (not lock.is_file() or lock.stat().st_size):
        raise CorpusError(f"{str(lock)!r} is no lock of ours. Name another directory.")
    while True:
        with lock.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ArenaError(
                    f"another process is writing {str(output)!r}. Wait for it or name another "
                    "directory."
                ) from None
            # The last holder may have removed the file between our opening and locking it.
            if _same_file(lock, file.fileno()):
                try:
                    yield
                finally:
                    lock.unlink(missing_ok=True)
                return


def _same_file(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False
