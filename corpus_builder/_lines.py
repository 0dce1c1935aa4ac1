"""The lines of a file, plain or gzip, read in bounded memory and hashed while they are read."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

MAX_LINE = 1 << 26
"""Bytes; a longer line is no record. A paper with its full text takes some hundred kilobytes."""


class Packed:
    """An open file; gzip is recognised by the content, not the name.

    Args:
        file: File opened for reading bytes.

    Attributes:
        lines: The unpacked content.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._raw = _HashingReader(file)
        self._source = io.BufferedReader(self._raw, 1 << 20)
        packed = self._source.peek(2)[:2] == b"\x1f\x8b"
        self.lines = cast(BinaryIO, gzip.GzipFile(fileobj=self._source) if packed else self._source)

    @property
    def count(self) -> int:
        """Bytes of the file read so far."""
        return self._raw.count

    def sha256(self) -> str:
        """Read what stands behind the last line, which counts, too; return the file's hash."""
        while self._source.read(1 << 20):
            pass
        return self._raw.sha256.hexdigest()


class _HashingReader(io.RawIOBase):
    """Pass bytes on and hash them, so that the file is read only once."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        self.sha256.update(data)
        self.count += len(data)
        return len(data)


__all__ = ["MAX_LINE", "Lines"]


class Lines:
    """The lines of a file.

    Attributes:
        sha256: SHA-256 of the file, once all lines have been read.
        damage: Why the lines end early, or None.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.sha256 = ""
        self.damage: str | None = None

    def __iter__(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield (number from 1, line) of every line that is not blank; None for one too long."""
        number = 0
        with self._path.open("rb") as opened:
            packed = Packed(opened)
            try:
                while line := packed.lines.readline(MAX_LINE):
                    number += 1
                    if len(line) == MAX_LINE and not line.endswith(b"\n"):
                        while line and not line.endswith(b"\n"):
                            line = packed.lines.readline(MAX_LINE)
                        yield number, None
                        continue
                    if number == 1:
                        line = line.removeprefix(b"\xef\xbb\xbf")
                    if line.strip():
                        yield number, line
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                self.damage = str(error)
            self.sha256 = packed.sha256()
            if not packed.count:
                self.damage = "the file is empty"
