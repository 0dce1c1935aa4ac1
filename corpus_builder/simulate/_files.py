"""Files of JSON lines, packed and hashed on the way, the same bytes each time."""

from __future__ import annotations

import gzip
import hashlib
import io
from pathlib import Path
from typing import Any, BinaryIO

_LEVEL = 1  # of compression; higher ones take longer than all the rest
_CHUNK = 1 << 18


class LineFile:
    """A new file of gzip JSON lines, without name or time in its header."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._name = path.name
        self._file = path.open("xb")
        self._raw = _Hashing(self._file)
        self._gzip = gzip.GzipFile("", "wb", _LEVEL, self._raw, mtime=0)
        self._waiting: list[bytes] = []
        self._size = 0
        self.lines = 0

    def write(self, line: bytes) -> None:
        """Write a line, its end included."""
        self._waiting.append(line)
        self._size += len(line)
        self.lines += 1
        if self._size >= _CHUNK:
            self._flush()

    def entry(self) -> dict[str, Any]:
        """Return what ``release.json`` says of the file; to be called once it is closed."""
        return {
            "name": self._name,
            "bytes": self._raw.count,
            "md5": self._raw.md5.hexdigest(),
            "sha256": self._raw.sha256.hexdigest(),
        }

    def _flush(self) -> None:
        self._gzip.write(b"".join(self._waiting))
        self._waiting, self._size = [], 0

    def __enter__(self) -> LineFile:
        return self

    def __exit__(self, *_: object) -> None:
        with self._file:
            self._flush()
            self._gzip.close()


class _Hashing(io.RawIOBase):
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.md5, self.sha256 = hashlib.md5(usedforsecurity=False), hashlib.sha256()
        self.count = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.md5.update(data)
        self.sha256.update(data)
        self.count += len(data)
        return self._file.write(data)
