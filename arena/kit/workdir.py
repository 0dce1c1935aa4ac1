"""Output directories: one writer at a time, complete or resumable, whatever is killed.

`output_directory` is for work that continues where it stopped, `staged_directory` for what appears
when it is complete, `atomic_directory` for one task among many.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock, Timeout

from arena.errors import ArenaError, CorpusError
from arena.kit.files import (
    TEMPORARY_SUFFIX,
    json_value,
    schema_error,
    sha256_json,
    sync_path,
    write_json,
)

__all__ = [
    "LOCK", "REPLACED", "OutputKind", "atomic_directory", "clear_temporary", "exclusive_lock",
    "is_temporary", "other_files", "output_directory", "publish", "read_manifest_of", "restore",
    "staged_directory", "sync",
]  # fmt: skip

LOCK = ".lock"
REPLACED = "replaced"
"""Name of the old directory while it waits next to the new one."""


class OutputKind(NamedTuple):
    """The output of a command in a directory."""

    name: str  # what messages call it: "run"
    manifest: str  # name of the JSON file that says what the other files belong to
    keys: dict[str, type]  # of a manifest of this kind, and the types of their values
    files: tuple[str, ...] = ()  # patterns of the other files: overwriting removes no others


@contextmanager
def output_directory(
    output: Path, kind: OutputKind, *, overwrite: bool = False
) -> Iterator[dict[str, Any] | None]:
    """Lock `output` for work of one kind; with `overwrite` remove earlier work of that kind first.

    Yields the manifest of the work that was begun there, or None if the directory is new. The
    caller compares the manifest with its own and writes its own if there is none. Raise
    CorpusError if `output` is a file or contains anything else than work of this kind.
    """
    if output.exists() and not output.is_dir():
        raise CorpusError(f"{str(output)!r} is a file. Name a new directory.")
    output.mkdir(parents=True, exist_ok=True)
    with exclusive_lock(output / LOCK, output):
        before = read_manifest_of(output, kind)
        if before is None and other_files(output, (LOCK,)):
            # Never write among, or delete, what is not ours, be it a corpus.
            raise CorpusError(
                f"{str(output)!r} contains other files and no {kind.name}. "
                "Name a new or empty directory."
            )
        clear_temporary({output, *((output / pattern).parent for pattern in kind.files)})
        if before is not None and overwrite:
            for path in [path for pattern in kind.files for path in output.glob(pattern)]:
                path.unlink()
                with suppress(OSError):  # another file in the folder keeps it
                    if path.parent != output:
                        path.parent.rmdir()
            (output / kind.manifest).unlink()  # last the one that says whose files these are
            before = None
        yield before


def read_manifest_of(directory: Path, kind: OutputKind) -> dict[str, Any] | None:
    """Return the manifest in `directory`, or None if it contains no work of this kind."""
    manifest = json_value(directory / kind.manifest)
    return manifest if schema_error(manifest, kind.keys) is None else None


@contextmanager
def exclusive_lock(lock: Path, output: Path, patience: float = 0.0) -> Iterator[None]:
    """Lock the file `lock` while writing `output`; the system unlocks it even after a kill.

    Raise ArenaError if another process has it for more than `patience` seconds, or if the file
    system has no locks, as some of networks.
    """
    held = FileLock(lock, is_singleton=False)
    try:
        held.acquire(timeout=patience, poll_interval=0.02)
    except Timeout:
        lock.touch()  # an OSError if nobody has it: it cannot be made there
        raise ArenaError(
            f"another process is writing {str(output)!r}. Wait for it or name another directory."
        ) from None
    except OSError as error:
        if error.filename is not None:  # the file cannot be made there
            raise
        lock.unlink(missing_ok=True)
        raise ArenaError(
            f"cannot lock {str(lock)!r}: its file system has no locks ({error.strerror}). Name a "
            "directory on another one, such as a local disk."
        ) from None
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)
        held.release()


def is_temporary(path: Path) -> bool:
    """Return whether only a killed `atomic_write` or `atomic_directory` leaves `path` behind."""
    return path.name.startswith(".") and path.name.endswith(TEMPORARY_SUFFIX)


def clear_temporary(folders: Iterable[Path], *, deep: bool = False) -> None:
    """Remove what killed writers left in `folders`, or at any depth below them."""
    for folder in folders:
        for path in list(folder.glob(f"{'**/' * deep}.*{TEMPORARY_SUFFIX}")):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


def other_files(directory: Path, known: Iterable[str]) -> list[str]:
    """Return the sorted names that match no pattern of `known`, without temporary files."""
    patterns = list(known)
    return sorted(
        path.name
        for path in directory.iterdir()
        if not is_temporary(path)
        and not any(fnmatchcase(path.name, pattern) for pattern in patterns)
    )


@contextmanager
def staged_directory(
    output: Path,
    check: Callable[[Path], None],
    *,
    manifest: str,
    work: Mapping[str, Any] | None = None,
    place: Callable[[Path], object] | None = None,
) -> Iterator[Path]:
    """Lend a directory in ``.NAME.building`` that becomes `output` when the block succeeds.

    Args:
        output: The directory that appears, or is replaced.
        check: Raises an error if `output` must not be replaced, before the block and after it.
        manifest: Name of the file without which the directory cannot be opened.
        work: JSON description of work that can be resumed: after a failure or a kill the directory
            is kept, and lent again for an equal description.
        place: Moves the directory to `output`; by default `publish`.
    """
    output = Path(os.path.realpath(output))
    output.parent.mkdir(parents=True, exist_ok=True)
    building = output.with_name(f".{output.name}.building")
    new = building / ("new" if work is None else sha256_json(work)[:16])
    with exclusive_lock(output.with_name(f"{building.name}.lock"), output):
        replaced = building / REPLACED
        if (replaced / manifest).is_file() and not output.exists():
            replaced.rename(output)  # a killed process had just moved it away
        check(output)
        for leftover in (replaced, *[new] * (work is None)):
            shutil.rmtree(leftover, ignore_errors=True)
        clear_temporary([building])
        new.mkdir(parents=True, exist_ok=True)
        try:
            if work is not None:
                write_json(new.with_suffix(".json"), work)
            yield new
            sync(new)
            check(output)  # something else may have come there meanwhile
            if place is None:
                publish(new, output)
            else:
                place(new)
        except BaseException:
            if work is None or not (new.is_dir() and any(new.iterdir())):
                shutil.rmtree(new, ignore_errors=True)
                new.with_suffix(".json").unlink(missing_ok=True)
                with suppress(OSError):
                    building.rmdir()
            raise
        (replaced / manifest).unlink(missing_ok=True)  # half of it is not taken for a whole one
        shutil.rmtree(building, ignore_errors=True)


@contextmanager
def atomic_directory(directory: Path) -> Iterator[Path]:
    """Lend an empty directory that becomes `directory` when the block succeeds.

    Several copies of one task may write it at the same time, on several machines: the first one
    wins, since all copies are equal.
    """
    new = directory.with_name(f".{directory.name}.{secrets.token_hex(4)}{TEMPORARY_SUFFIX}")
    new.mkdir(parents=True)
    try:
        yield new
        with suppress(OSError):
            new.rename(directory)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    if not directory.is_dir():
        raise OSError(f"cannot rename {str(new)!r} to {str(directory)!r}")


def publish(new: Path, output: Path) -> None:
    """Move the directory `new` to `output`; what was there waits next to `new`."""
    old = new.with_name(REPLACED)
    if output.exists() and any(output.iterdir()):
        output.rename(old)
    try:
        new.replace(output)
    except BaseException:
        if old.exists():
            old.rename(output)
        raise
    sync_path(output.parent)


def restore(new: Path, output: Path) -> None:
    """Undo ``publish(new, output)``."""
    output.rename(new)
    old = new.with_name(REPLACED)
    if old.exists():
        old.rename(output)


def sync(directory: Path) -> None:
    """Make all files and names reach the disk before a rename does."""
    for path in (*directory.rglob("*"), directory):
        sync_path(path)
