"""Arrays and string tables on disk: read through a memory map, written as they come.

A string table is raw UTF-8 and int64 offsets rather than a container format, so that the bytes, and
with them the hashes of a corpus and its indexes, do not change with the release of a library.
"""

from __future__ import annotations

import mmap
import os
from array import array
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.errors import CorpusError

__all__ = [
    "HEADER", "ArrayWriter", "StringTable", "StringTableWriter", "damaged", "load_array",
    "save_array",
]  # fmt: skip

HEADER = 128
"""Bytes before the elements of an array on disk."""

_UNWRITTEN = 1 << 16  # offsets that a `StringTableWriter` keeps in memory


def load_array(path: Path, *dtypes: Any, size: int | None = None) -> NDArray[Any]:
    """Return the array in a ``.npy`` file, memory-mapped and read-only.

    With `dtypes` it must have one of these types and one dimension. Raises CorpusError if it is
    missing, another array, or cut off.
    """
    try:
        if path.stat().st_size == HEADER:  # an array without elements cannot be mapped
            with path.open("rb") as file:
                array = np.lib.format.read_array(file, allow_pickle=False)
        else:
            # A plain array over the map: numpy and numba handle it faster than an np.memmap.
            array = np.lib.format.open_memmap(path, mode="r").view(np.ndarray)
    except FileNotFoundError:
        raise _missing(path) from None
    except OSError:
        raise
    except Exception as error:  # of numpy, or of Python's parser, which reads the header
        raise damaged(path, str(error)) from None
    if dtypes and (array.dtype not in dtypes or array.ndim != 1):
        raise damaged(path, f"it has {array.dtype} of shape {array.shape}")
    if size is not None and len(array) != size:
        raise damaged(path, f"it has {len(array)} elements, not {size}")
    return array


def _missing(path: Path) -> CorpusError:
    return damaged(path, "it is missing, or another release wrote the others")


def damaged(path: Path | str, why: str) -> CorpusError:
    """Return the error about a file that cannot be what was built."""
    return CorpusError(f"{str(path)!r} is damaged: {why}. Build it again, or copy it again.")


def save_array(path: Path, array: NDArray[Any], dtype: Any = None) -> None:
    """Write a one-dimensional array, as `dtype` if one is given.

    `numpy.save` must not be used for this: when the disk fills up with the last few kilobytes,
    it drops them and reports nothing.
    """
    with ArrayWriter(path, dtype or array.dtype) as writer:
        writer.append(array)


class ArrayWriter:
    """Write a ``.npy`` file whose length is known only at the end; until then it does not open.

    An array of two dimensions has so many `columns`; `done` rows of an earlier file are kept.
    """

    def __init__(
        self, path: Path, dtype: Any, *, columns: int | None = None, done: int = 0
    ) -> None:
        self.length = done
        self._dtype, self._columns = np.dtype(dtype), columns
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("r+b" if done else "wb", buffering=1 << 20)
        self._file.write(b"\0" * HEADER)
        size = self._dtype.itemsize * (columns or 1)
        self._file.seek(HEADER + done * size)
        self._file.truncate()

    def append(self, values: Any) -> None:
        """Add `values`, converted to the type of the array."""
        array = np.ascontiguousarray(values, self._dtype)
        self._file.write(array.data)
        self.length += len(array)

    def sync(self) -> None:
        """Wait until all that was added is on the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def __enter__(self) -> ArrayWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: object, trace: TracebackType | None
    ) -> None:
        with self._file:
            if kind is None:
                self._file.seek(0)
                rows = (self.length,)
                description = {
                    "descr": np.lib.format.dtype_to_descr(self._dtype),
                    "fortran_order": False,
                    "shape": rows if self._columns is None else (*rows, self._columns),
                }
                np.lib.format.write_array_header_1_0(self._file, description)
                if self._file.tell() != HEADER:
                    raise AssertionError(f"numpy wrote a header of {self._file.tell()} bytes")


class StringTable:
    """A read-only sequence of `size` strings, ``<path>.bin`` and ``<path>.offsets.npy``.

    Raises CorpusError if a file is not such a table; so does reading a damaged string.
    """

    def __init__(self, path: Path, size: int | None = None) -> None:
        self._path, rows = path, None if size is None else size + 1
        self._offsets = load_array(Path(f"{path}.offsets.npy"), np.int64, size=rows)
        if not Path(f"{path}.bin").is_file():
            raise _missing(Path(f"{path}.bin"))
        with Path(f"{path}.bin").open("rb") as file:
            empty = file.seek(0, 2) == 0  # an empty file cannot be mapped
            self._blob: mmap.mmap | bytes = (
                b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            )

    def __len__(self) -> int:
        return len(self._offsets) - 1

    def bytes_at(self, index: int) -> bytes:
        """Return the UTF-8 bytes of string number `index`."""
        low, high = self._offsets.item(index), self._offsets.item(index + 1)
        if not 0 <= low <= high <= len(self._blob):
            raise damaged(f"{self._path}.bin", "its strings are not in order")
        return self._blob[low:high]

    def __getitem__(self, index: int) -> str:
        try:
            return self.bytes_at(index).decode("utf-8")
        except UnicodeDecodeError as error:
            raise damaged(f"{self._path}.bin", str(error)) from None

    def arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """Return the bytes of all strings, and where each string begins (n + 1)."""
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
