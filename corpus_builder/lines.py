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


class Lines:
    """The lines of a file; gzip is recognised by the content, not the name.

    Attributes:
        number: Number of lines read so far.
        bytes: Bytes of the file read so far.
        sha256: SHA-256 of the file, once all lines have been read.
        damage: Why the lines end early, or None.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.number = self.bytes = 0
        self.sha256 = ""
        self.damage: str | None = None

    def __iter__(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield (number from 1, line) of every line that is not blank; None for one too long."""
        with self._path.open("rb") as opened:
            raw = _HashingReader(opened)
            source = io.BufferedReader(raw, 1 << 20)
            packed = source.peek(2)[:2] == b"\x1f\x8b"
            lines = cast(BinaryIO, gzip.GzipFile(fileobj=source) if packed else source)
            try:
                while line := lines.readline(MAX_LINE):
                    self.number, self.bytes = self.number + 1, raw.count
                    if len(line) == MAX_LINE and not line.endswith(b"\n"):
                        while line and not line.endswith(b"\n"):
                            line = lines.readline(MAX_LINE)
                        yield self.number, None
                        continue
                    if self.number == 1:
                        line = line.removeprefix(b"\xef\xbb\xbf")
                    if line.strip():
                        yield self.number, line
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                self.damage = str(error)
            while source.read(1 << 20):  # bytes after the last line count, too
                pass
            self.bytes, self.sha256 = raw.count, raw.sha256.hexdigest()
            if not self.bytes:
                self.damage = "the file is empty"


class _HashingReader(io.RawIOBase):
    """Passes bytes on and hashes them, so that the file is read only once."""

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
