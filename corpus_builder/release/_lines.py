"""The lines of one shard, plain or gzip, in bounded memory and hashed on the way."""

from __future__ import annotations

import gzip
import hashlib
import io
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

MAX_LINE = 1 << 26
"""Bytes; a longer line is skipped. A paper with its full text takes some hundred kilobytes."""


class Lines:
    """The lines of a file.

    Attributes:
        sha256: of the bytes of the file, once all lines were read.
        damage: what is wrong with the file, if its lines end early.
        read: bytes of the file read so far.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.sha256 = ""
        self.damage: str | None = None
        self.read = 0

    def __iter__(self) -> Iterator[tuple[int, bytes | None]]:
        """Yield (number from 1, line) of every line that is not blank; None for one too long."""
        number = 0
        with self._path.open("rb") as opened:
            raw = _HashingReader(opened)
            source = io.BufferedReader(raw, 1 << 20)
            packed = source.peek(2)[:2] == b"\x1f\x8b"
            stream = cast(BinaryIO, gzip.GzipFile(fileobj=source)) if packed else source
            try:
                while line := stream.readline(MAX_LINE):
                    number += 1
                    self.read = raw.count
                    if len(line) == MAX_LINE and not line.endswith(b"\n"):
                        while line and not line.endswith(b"\n"):
                            line = stream.readline(MAX_LINE)
                        yield number, None
                        continue
                    if number == 1:
                        line = line.removeprefix(b"\xef\xbb\xbf")
                    if line.strip():
                        yield number, line
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                self.damage = str(error)
            while source.read(1 << 20):  # what stands behind the last line counts for the hash
                pass
            self.sha256 = raw.sha256.hexdigest()
            self.read = raw.count
            if not raw.count:
                self.damage = "the file is empty"


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
