"""``release.json``: which release a directory holds, and every file of its datasets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from arena._internal.files import TEMPORARY_SUFFIX, write_json
from arena.errors import DataError, clip
from corpus_builder.download._names import SUFFIX, safe_name

RECORD = "release.json"


class Entry(NamedTuple):
    """One file.

    Attributes:
        name: of the file in the directory of its dataset.
        bytes: its size.
        md5: as the storage tells it, or None.
        sha256: of the file here; None until it has been fetched and verified.
    """

    name: str
    bytes: int
    md5: str | None
    sha256: str | None = None


class Record:
    """The content of ``release.json``; written whole at each change.

    Attributes:
        release: id of the release.
        datasets: the files of each, by name, in the order of the names.
    """

    def __init__(self, path: Path | None, release: str) -> None:
        self._path = path
        self.release = release
        self.datasets: dict[str, dict[str, Entry]] = {}

    @classmethod
    def read(cls, directory: Path, writable: Path | None) -> Record | None:
        """Return the record in a directory; None if there is none.

        Args:
            directory: to be looked into.
            writable: where the record is saved; None for nowhere.

        Raises:
            DataError: if the file is none, or the directory holds something else.
        """
        path = directory / RECORD
        if not path.is_file():
            if directory.is_dir() and any(p.name[0] != "." for p in directory.iterdir()):
                raise DataError(
                    f"{str(directory)!r} holds files but no {RECORD}, so it is no download of "
                    "ours. Name another directory."
                )
            return None
        try:
            data = json.loads(path.read_bytes())
            record = cls(writable, data["release"])
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

    def put(self, dataset: str, entries: list[Entry]) -> None:
        """Set the files of a dataset."""
        self.datasets[dataset] = {entry.name: entry for entry in sorted(entries)}
        self.save()

    def renew(self, dataset: str, entry: Entry) -> None:
        """Set what is known of one file."""
        self.datasets[dataset][entry.name] = entry
        self.save()

    def save(self) -> None:
        """Write the file, whole or not at all."""
        if self._path is not None:
            content: dict[str, Any] = {
                "release": self.release,
                "datasets": {
                    name: [entry._asdict() for entry in entries.values()]
                    for name, entries in self.datasets.items()
                },
            }
            write_json(self._path, content)


def _entry(data: dict[str, Any]) -> Entry:
    entry = Entry(
        safe_name(data["name"], "file"), data["bytes"], data.get("md5"), data.get("sha256")
    )
    if (
        not entry.name.endswith(SUFFIX)
        or not isinstance(entry.bytes, int)
        or entry.bytes < 0
        or not all(value is None or isinstance(value, str) for value in entry[2:])
    ):
        raise ValueError(clip(data))
    return entry


def clear_leftovers(directory: Path) -> None:
    """Remove what killed writers of small files left behind."""
    for path in [
        *directory.glob(f".*{TEMPORARY_SUFFIX}"),
        *directory.glob(f"*/.*{TEMPORARY_SUFFIX}"),
    ]:
        path.unlink(missing_ok=True)
