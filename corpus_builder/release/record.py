"""``release.json``: the release that a folder holds, and every file of its datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, NonNegativeInt

from arena._internal.files import write_json
from arena.errors import DataError, clip

RECORD = "release.json"


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
        or not (name.isprintable() and name.isascii())
        or not 0 < len(name) <= 200
        or name[0] in ".~-"
        or any(letter in name for letter in '/\\:*?"<>|')
    ):
        raise DataError(f"the server names a {kind} {clip(name)}, which cannot name a file.")
    return name


class FileEntry(BaseModel, strict=True):
    """One file of a release.

    Attributes:
        name: Name of the file in the folder of its dataset.
        bytes: Its size, if it is known.
        md5: MD5 according to the storage, or None.
        sha256: SHA-256 of the file on disk; None until it has been fetched and verified.
    """

    name: Annotated[str, AfterValidator(lambda name: safe_name(name, "file"))]
    bytes: NonNegativeInt | None = None
    md5: str | None = None
    sha256: str | None = None


class Record(BaseModel, strict=True):
    """The content of ``release.json``.

    Attributes:
        release: Id of the release.
        datasets: All files of each dataset.
    """

    release: Annotated[str, AfterValidator(lambda name: safe_name(name, "release"))]
    datasets: dict[
        Annotated[str, AfterValidator(lambda name: safe_name(name, "dataset"))], list[FileEntry]
    ] = {}

    @classmethod
    def read(cls, folder: Path) -> Record | None:
        """Return the record in a folder, or None if there is none.

        Raises:
            DataError: If the file is malformed.
        """
        try:
            return cls.model_validate_json((folder / RECORD).read_bytes())
        except FileNotFoundError:
            return None
        except ValueError:
            raise DataError(
                f"{str(folder / RECORD)!r} does not say what was downloaded. Restore it, download "
                "into another folder, or remove it to build from the files as they are."
            ) from None

    def write(self, folder: Path) -> None:
        """Write the record atomically."""
        write_json(folder / RECORD, self.model_dump())
