"""Output directories: one writer, a manifest that says whose files they are, whole or resumable.

`output_directory` is for work that goes on where it stopped, `whole_directory` for what appears in
one step, `atomic_directory` for one task among many. All clear what a killed process left behind
and refuse to touch files of anybody else.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import re
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

from arena._internal.files import TEMPORARY_SUFFIX, sha256_json, write_json
from arena.errors import ArenaError, CorpusError, clip

LOCK = ".lock"
REPLACED = "replaced"
"""Where, beside the new directory, the old one waits while two renames are needed."""

_MAKING = ".making"
_GOING = "going-"  # begins the name of a directory that is being removed
_KEPT = re.compile("[0-9a-f]{16}")
# "new" and "corpus" are names that 0.1.0 gave the new directory.
_OURS = re.compile(
    rf"new|corpus|{REPLACED}|going-[0-9a-f]{{16}}|((new-)?{_KEPT.pattern})(\.json)?"
    rf"|\..*{re.escape(TEMPORARY_SUFFIX)}",
    re.DOTALL,
)


class OutputKind(NamedTuple):
    """What a command writes into a directory."""

    name: str  # what messages call it: "run"
    manifest: str  # name of the JSON file that says what the other files belong to
    keys: dict[str, type]  # of a manifest of this kind, and the types of their values
    files: tuple[str, ...] = ()  # patterns of the other files: starting anew removes no others


@contextmanager
def output_directory(
    output: Path, kind: OutputKind, *, overwrite: bool = False
) -> Iterator[dict[str, Any] | None]:
    """Hold `output` for work of one kind; with `overwrite` remove earlier work of that kind first.

    Yields the manifest of the work that was begun there, or None if the directory is new. The
    caller compares the manifest with its own and writes its own if there is none.

    Raises:
        CorpusError: `output` is a file, or holds anything else than work of this kind.
        ArenaError: Another process writes it.
    """
    if output.exists() and not output.is_dir():
        raise CorpusError(f"{str(output)!r} is a file. Name a new directory.")
    with _named(output), suppress(FileExistsError):
        output.mkdir(parents=True)
    with _named(output), only_writer(output / LOCK, output):
        before = read_manifest_of(output, kind)
        if before is None and other_files(output, (LOCK,)):
            # Never write among, or delete, what is not ours, be it a corpus.
            raise CorpusError(
                f"{str(output)!r} holds other files, no {kind.name}. Name a new or empty directory."
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


@contextmanager
def _named(output: Path) -> Iterator[None]:
    """Name `output`, which the user gave, in an error of the system on a file in it."""
    try:
        yield
    except OSError as error:
        file = error.filename
        inside = isinstance(file, str | Path) and (
            Path(file).is_relative_to(output) or output.is_relative_to(file)
        )
        if error.errno is None or (file is not None and not inside):
            raise
        raise OSError(error.errno, error.strerror, str(output)) from error


def read_manifest_of(directory: Path, kind: OutputKind) -> dict[str, Any] | None:
    """Return the manifest in `directory`, or None if it holds no work of this kind."""
    try:
        manifest = json.loads((directory / kind.manifest).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(manifest, dict):
        return None
    fits = all(isinstance(manifest.get(key), wanted) for key, wanted in kind.keys.items())
    return manifest if fits else None


@contextmanager
def only_writer(lock: Path, output: Path) -> Iterator[None]:
    """Hold the file `lock` while writing `output`; the system frees it even after a kill.

    Raises:
        CorpusError: `lock` is a file with content, which a lock never has.
        ArenaError: Another process holds it.
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


def is_temporary(path: Path) -> bool:
    """Return whether `path` is a file that only a killed `atomic_write` leaves behind."""
    return path.name.startswith(".") and path.name.endswith(TEMPORARY_SUFFIX) and path.is_file()


def clear_temporary(folders: Iterable[Path]) -> None:
    """Remove the files that killed writers left in `folders`, but nothing below them."""
    for folder in folders:
        for path in folder.glob(f".*{TEMPORARY_SUFFIX}"):
            if path.is_file():
                path.unlink(missing_ok=True)


def clear_leftovers(directory: Path) -> None:
    """Remove all that killed writers left below a directory that holds no files of a user."""
    for path in list(directory.rglob(f".*{TEMPORARY_SUFFIX}")):
        path.unlink(missing_ok=True)
    for path in list(directory.rglob(f".*{_MAKING}")):
        shutil.rmtree(path, ignore_errors=True)


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
def whole_directory(
    output: Path,
    check: Callable[[Path], None],
    *,
    manifest: str,
    suffix: str = ".building",
    work: Mapping[str, Any] | None = None,
    resumes: bool = False,
    place: Callable[[Path], object] | None = None,
) -> Iterator[Path]:
    """Lend a directory that becomes `output` when the block succeeds.

    It lies in ``.NAME.building`` beside `output`, under a name of its own for each attempt, so that
    a process of a killed attempt that has not ended yet cannot write into the next one.

    Args:
        output: The directory that appears, or is replaced, in one step.
        check: Raises an error if `output` must not be replaced, before the block and after it.
        manifest: Name of the file without which the directory cannot be opened.
        suffix: Of the directory beside `output`.
        work: Description of the work as JSON values, which is kept beside the directory.
        resumes: Whether work can be resumed. The directory is then kept if work fails or is killed
            after it wrote a file, and lent again for an equal description. Work of another
            description stays until one succeeds: that may be a mistake.
        place: Moves the directory to `output`; by default `put`.

    Raises:
        CorpusError: The directory beside `output` holds other files.
        ArenaError: Another process writes `output`.
    """
    output = Path(os.path.realpath(output))
    output.parent.mkdir(parents=True, exist_ok=True)
    building = output.with_name(f".{output.name}{suffix}")
    with only_writer(output.with_name(f"{building.name}.lock"), output):
        if (building / REPLACED / manifest).is_file() and not output.exists():
            (building / REPLACED).rename(output)  # a killed process had just moved it away
        check(output)
        clear_building(building, keep=_KEPT.pattern + r"(\.json)?")
        key = sha256_json(work)[:16] if resumes else f"new-{secrets.token_hex(8)}"
        new = building / key
        new.mkdir(parents=True, exist_ok=True)
        try:
            if work is not None:
                write_json(building / f"{key}.json", work)
            yield new
            sync(new)
            check(output)  # something else may have come there meanwhile
            if place is None:
                put(new, output)
            else:
                place(new)
        except BaseException:
            if not resumes or not (new.is_dir() and any(new.iterdir())):
                clear_building(building, of=rf"{key}(\.json)?")
            raise
        clear_building(building)


def clear_building(building: Path, *, of: str = ".*", keep: str = "") -> None:
    """Remove the names of the pattern `of`, not of `keep`, from where `whole_directory` works.

    Raises CorpusError if it holds files of anybody else.
    """
    for path in list(building.glob("*")):
        if not _OURS.fullmatch(path.name):
            raise CorpusError(
                f"{str(building)!r} holds other files, {clip(path.name)} for one; a build needs "
                "that name. Move them or name another directory."
            )
        if not re.fullmatch(of, path.name) or re.fullmatch(keep, path.name):
            continue
        if path.is_dir():
            # Rename it first: a kill must not leave half of it under its own name.
            going = building / f"{_GOING}{secrets.token_hex(8)}"
            with suppress(OSError):
                path = path.rename(going)
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    with suppress(OSError):
        building.rmdir()


@contextmanager
def atomic_directory(directory: Path) -> Iterator[Path]:
    """Lend an empty directory that becomes `directory` when the block succeeds.

    Several copies of one task may write it at the same time, on several machines: the first one
    wins, since all copies are equal.
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


def put(new: Path, output: Path) -> Path | None:
    """Move the directory `new` to `output`; return where the old one is now, if there was one."""
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


def sync(directory: Path) -> None:
    """Make all files and names reach the disk before a rename does."""
    for path in directory.rglob("*"):
        _sync_one(path)
    _sync_one(directory)


def _exchange(first: Path, second: Path) -> bool:
    """Swap two directories in one step, where the system can: Linux, most file systems."""
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError):
        return False
    here, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    return bool(renameat2(here, os.fsencode(first), here, os.fsencode(second), exchange) == 0)


def _sync_one(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
