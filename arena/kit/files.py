"""Files written whole or not at all; hashes of files and JSON; the form of a JSON file."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from arena.errors import DataError, clip

__all__ = [
    "TEMPORARY_SUFFIX",
    "Form",
    "atomic_write",
    "check_target",
    "json_value",
    "read_json",
    "read_sealed",
    "schema_error",
    "sealed",
    "sha256_file",
    "sha256_json",
    "sync_path",
    "write_json",
]  # fmt: skip

TEMPORARY_SUFFIX = ".atomic-write.tmp"
"""Ends the names of files that a killed `atomic_write` may leave behind; each starts with a dot."""

Form = Mapping[str, Any]
"""Key -> a type, several types as ``int | float``, or the `Form` of the object there."""


def check_target(path: str | os.PathLike[str]) -> Path:
    """Return the real path of a file to write; raise DataError if it cannot be one."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise DataError(f"{path}: there is no directory {str(target.parent)!r}; create it first.")
    # Renaming over a device would replace the device itself.
    if target.exists() and not target.is_file():
        raise DataError(f"{path}: is not a regular file, so it cannot be replaced.")
    return target


def atomic_write(path: str | os.PathLike[str], data: str | bytes) -> None:
    r"""Write `data` to `path`, replacing an old file in one step.

    A reader sees the old content or the new one, never a part, also after a crash. Symbolic links
    are followed, the mode of an old file is kept. Text is written as UTF-8 with ``\n`` unchanged.
    """
    target = check_target(path)
    try:
        content = data.encode("utf-8") if isinstance(data, str) else data
    except UnicodeEncodeError as error:
        raise DataError(f"{path}: text cannot be written as UTF-8: {error}") from error
    old = target.stat() if target.exists() else None
    temporary = target.parent / f".{secrets.token_hex(8)}{TEMPORARY_SUFFIX}"
    try:
        # Unlike the tempfile module, "x" gives the permissions of any new file (0o666 & ~umask).
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if old is not None:
            temporary.chmod(stat.S_IMODE(old.st_mode))
        temporary.replace(target)
    except OSError as error:  # name what the caller named, not the temporary file
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error
    finally:
        with suppress(OSError):  # it was never made, for one in a read-only directory
            temporary.unlink()
    # Without it a power failure may undo the rename, which has succeeded. Some systems cannot open
    # a directory, and some network file systems refuse.
    with suppress(OSError):
        sync_path(target.parent)


def sync_path(path: Path) -> None:
    """Make a file, or the names in a directory, reach the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_json(source: Path | str | bytes) -> Any:
    """Return the JSON value in a file or a text; ValueError where there is none, or too deep a one.

    A missing or unreadable file is a ValueError, too.
    """
    try:
        return json.loads(source.read_bytes() if isinstance(source, Path) else source)
    except (OSError, RecursionError) as error:
        raise ValueError(str(error)) from None


def json_value(source: Any) -> Any:
    """Return the JSON value in a file or a text; None for null and for what is not JSON."""
    with suppress(ValueError, TypeError):
        return read_json(source)
    return None


def write_json(path: str | os.PathLike[str], obj: object, sort_keys: bool = True) -> None:
    """Write `obj` atomically as indented JSON: keys sorted or as given, ASCII, a final newline.

    Raises DataError if `obj` contains NaN, an infinity or itself; or as `atomic_write`.
    """
    try:
        text = json.dumps(obj, indent=2, sort_keys=sort_keys, allow_nan=False)
    except ValueError as error:
        raise DataError(f"{path}: cannot be written as JSON: {error}") from error
    atomic_write(path, text + "\n")


def sha256_file(path: str | os.PathLike[str]) -> str:
    """Return the SHA-256 of a file's bytes as 64 hexadecimal digits; DataError if there is none."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file.") from error
    except IsADirectoryError as error:
        raise DataError(f"{path}: is a directory, expected a file.") from error


def sha256_json(obj: object) -> str:
    """Return the SHA-256 of `obj` as canonical JSON, as 64 hexadecimal digits.

    Canonical: sorted keys, no white space, ASCII. As in JSON, tuples equal lists and the key 1
    equals the key "1". Raises DataError if `obj` contains NaN, an infinity or itself.

    >>> sha256_json({"b": 1, "a": (2,)}) == sha256_json({"a": [2], "b": 1})
    True
    """
    try:
        text = json.dumps(
            obj, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
        )
    except ValueError as error:
        raise DataError(f"cannot be hashed as JSON: {error}") from error
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def sealed(obj: dict[str, Any]) -> dict[str, Any]:
    """Return `obj` with the hash of all that it has as ``sha256.content``, in place of an old one.

    >>> once = sealed({"mean": 1, "sha256": {}})
    >>> sealed(once) == once, sealed(once | {"mean": 2}) == once | {"mean": 2}
    (True, False)
    """
    hashes = {name: value for name, value in obj["sha256"].items() if name != "content"}
    content = sha256_json(obj | {"sha256": hashes})
    return obj | {"sha256": hashes | {"content": content}}


def read_sealed(path: Path) -> dict[str, Any]:
    """Return the judgements in a file, `sealed` by who wrote it; DataError if they were changed."""
    with suppress(ValueError, TypeError, LookupError, AttributeError):
        obj: dict[str, Any] = read_json(path)
        if sealed(obj) == obj:
            return obj
    raise DataError(
        f"{str(path)!r} contains no judgements, or was changed. Name what `arena judge` wrote, or "
        "repeat that."
    )


def schema_error(value: Any, form: Form, place: str = "") -> str | None:
    """Return what keeps a value from being of a form, or None. Other keys may have any value.

    True and False are of the types ``bool`` and ``object`` alone.

    >>> schema_error({"rows": "3"}, {"rows": int}), schema_error({}, {"rows": int})
    ("rows='3'", 'rows is missing')
    """
    if not isinstance(value, Mapping):
        return f"{place.rstrip('.') or 'it'}={clip(value)}"
    for key, wanted in form.items():
        if key not in value:
            return f"{place}{key} is missing"
        part = value[key]
        if isinstance(wanted, Mapping):
            if (why := schema_error(part, wanted, f"{place}{key}.")) is not None:
                return why
        elif not isinstance(part, wanted) or (type(part) is bool and wanted not in (bool, object)):
            return f"{place}{key}={clip(part)}"
    return None
