"""Many strings in two files, memory-mapped: random access without loading them.

Raw UTF-8 and int64 offsets rather than a container format, so that the bytes, and with them the
hashes of a corpus and its indexes, do not change with the release of a library.
"""

from __future__ import annotations

import mmap
from array import array
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from arena._internal.arrays import ArrayWriter, load_array

_UNWRITTEN = 1 << 16


class StringTable:
    """A read-only sequence of strings stored as ``<path>.bin`` and ``<path>.offsets.npy``."""

    def __init__(self, path: Path) -> None:
        self._offsets: NDArray[np.int64] = load_array(Path(f"{path}.offsets.npy"))
        with Path(f"{path}.bin").open("rb") as file:
            empty = file.seek(0, 2) == 0  # an empty file cannot be mapped
            self._blob: mmap.mmap | bytes = (
                b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            )

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def bytes_at(self, index: int) -> bytes:
        """Return the UTF-8 bytes of string number `index`."""
        return self._blob[self._offsets.item(index) : self._offsets.item(index + 1)]

    def __getitem__(self, index: int) -> str:
        return self.bytes_at(index).decode("utf-8")

    def many(self, indices: NDArray[np.int64]) -> list[str]:
        """Return the strings of these numbers."""
        blob = self._blob
        starts, stops = self._offsets[indices].tolist(), self._offsets[indices + 1].tolist()
        return [blob[start:stop].decode("utf-8") for start, stop in zip(starts, stops, strict=True)]

    def arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return all bytes and the offsets, as arrays over the map."""
        return np.frombuffer(self._blob, np.uint8), self._offsets


class StringTableWriter:
    """Write a `StringTable` one string at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = Path(f"{path}.bin").open("wb", buffering=1 << 20)  # noqa: SIM115
        self._offsets = ArrayWriter(Path(f"{path}.offsets.npy"), np.int64)
        self._ends = array("q", [0])  # not written yet
        self._end = 0

    def add(self, value: bytes) -> None:
        """Append a string, given as UTF-8."""
        self._file.write(value)
        self._end += len(value)
        self._ends.append(self._end)
        if len(self._ends) >= _UNWRITTEN:
            self._write()

    def _write(self) -> None:
        self._offsets.append(np.frombuffer(self._ends, np.int64))
        self._ends = array("q")

    def __enter__(self) -> StringTableWriter:
        self._offsets.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._file.close()
        if kind is None:
            self._write()
        self._offsets.__exit__(kind, None, None)
