"""``release.json``: the release that a directory holds, and every file of its datasets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from arena._internal.files import write_json
from arena._internal.workdir import other_files
from arena.errors import DataError, clip

RECORD = "release.json"

_SUFFIX = ".gz"


def safe_name(name: object, kind: str) -> str:
    """Return a name that a server gave if it can name a visible file in its own directory.

    Args:
        name: The name.
        kind: What it names, for the error.

    Raises:
        DataError: If it cannot name a file.
    """
    if (
        not isinstance(name, str)
        or not name.isprintable()
        or not name.isascii()
        or not 0 < len(name) <= 200
        or name[0] in ".~-"
        or any(letter in name for letter in '/\\:*?"<>|')
    ):
        raise DataError(f"the server names a {kind} {clip(name)}, which cannot name a file.")
    return name


def object_name(link: object) -> str:
    """Return the file name for a link: the last part of its path, with ``.gz``.

    The query, which holds signature and expiry, does not count.

    Raises:
        DataError: If `link` is not a link, or its name cannot name a file.

    >>> object_name("https://s3.example/2024-02-06/papers/00_a%2Bb.gz?Expires=1&Signature=x")
    '00_a+b.gz'
    """
    if not isinstance(link, str) or not link.startswith(("https://", "http://")):
        # The message must not hold the link: anyone who has it can fetch the object.
        raise DataError("the server gives something for a link that is no http address.")
    try:
        path = urlsplit(link).path
    except ValueError:
        raise DataError("the server gives a link that cannot be read.") from None
    name = safe_name(unquote(path.rpartition("/")[2]), "file")
    return name if name.endswith(_SUFFIX) else name + _SUFFIX


class FileEntry(NamedTuple):
    """One file.

    Attributes:
        name: Name of the file in the directory of its dataset.
        bytes: Its size.
        md5: MD5 according to the storage, or None.
        sha256: SHA-256 of the file on disk; None until it has been fetched and verified.
    """

    name: str
    bytes: int
    md5: str | None
    sha256: str | None = None


class Record:
    """The content of ``release.json``; each change writes the whole file.

    Attributes:
        release: Id of the release.
        datasets: The files of each dataset, by name.
    """

    def __init__(self, path: Path | None, release: str) -> None:
        self._path = path
        self.release = release
        self.datasets: dict[str, dict[str, FileEntry]] = {}

    @classmethod
    def read(cls, directory: Path, dry_run: bool) -> Record | None:
        """Return the record in a directory, or None if there is none.

        Args:
            directory: Directory of the download.
            dry_run: Never write the record back.

        Raises:
            DataError: If the file is malformed, or the directory holds something else.
        """
        path = directory / RECORD
        if not path.is_file():
            if directory.is_dir() and any(n[0] != "." for n in other_files(directory, ())):
                raise DataError(
                    f"{str(directory)!r} holds files but no {RECORD}, so it is no download of "
                    "ours. Name another directory."
                )
            return None
        try:
            data = json.loads(path.read_bytes())
            record = cls(None if dry_run else path, data["release"])
            if not isinstance(record.release, str):
                raise TypeError
            for name, entries in data["datasets"].items():
                record.datasets[safe_name(name, "dataset")] = {
                    entry.name: entry for entry in map(_entry, entries)
                }
        except (ValueError, TypeError, KeyError, AttributeError):
            raise DataError(
                f"{str(path)!r} is not as this command writes it. Restore it, or name another "
                "directory."
            ) from None
        return record

    def add_dataset(self, dataset: str, entries: list[FileEntry]) -> None:
        """Set the files of a dataset."""
        self.datasets[dataset] = {entry.name: entry for entry in sorted(entries)}
        self.save()

    def update(self, dataset: str, entry: FileEntry) -> None:
        """Replace the entry of one file."""
        self.datasets[dataset][entry.name] = entry
        self.save()

    def save(self) -> None:
        """Write the file atomically."""
        if self._path is not None:
            datasets = {
                name: [entry._asdict() for entry in entries.values()]
                for name, entries in self.datasets.items()
            }
            write_json(self._path, {"release": self.release, "datasets": datasets})


def _entry(data: dict[str, Any]) -> FileEntry:
    entry = FileEntry(
        safe_name(data["name"], "file"), data["bytes"], data.get("md5"), data.get("sha256")
    )
    if (
        not entry.name.endswith(_SUFFIX)
        or not isinstance(entry.bytes, int)
        or entry.bytes < 0
        or not all(value is None or isinstance(value, str) for value in entry[2:])
    ):
        raise ValueError(clip(data))
    return entry
