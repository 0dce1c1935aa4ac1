"""Arrays on disk: read through a memory map, written as they come."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arena.errors import CorpusError

_HEADER = 128


def load_array(path: Path) -> NDArray[Any]:
    """Return the array in a ``.npy`` file, memory-mapped and read-only.

    Raises:
        CorpusError: if it is no such file, or is cut off.
    """
    try:
        if path.stat().st_size == _HEADER:  # an array without elements cannot be mapped
            with path.open("rb") as file:
                return np.lib.format.read_array(file, allow_pickle=False)
        # A plain array over the map: numpy and numba handle it faster than an np.memmap.
        return np.lib.format.open_memmap(path, mode="r").view(np.ndarray)
    except (ValueError, EOFError) as error:
        raise CorpusError(
            f"{str(path)!r} is damaged: {error}. Build it again, or copy it again."
        ) from None


def save_array(path: Path, array: NDArray[Any]) -> None:
    """Write a one-dimensional array.

    `numpy.save` must not be used for this: when the disk fills up with the last few kilobytes,
    it drops them and reports nothing.
    """
    with ArrayWriter(path, array.dtype) as writer:
        writer.append(array)


class ArrayWriter:
    """Write a one-dimensional ``.npy`` file whose length is known only at the end."""

    def __init__(self, path: Path, dtype: Any) -> None:
        self.length = 0
        self._dtype = np.dtype(dtype)
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("wb", buffering=1 << 20)
        self._file.write(b"\0" * _HEADER)

    def append(self, values: Any) -> None:
        """Add `values`, converted to the type of the array."""
        array = np.ascontiguousarray(values, self._dtype)
        self._file.write(array.data)
        self.length += len(array)

    def __enter__(self) -> ArrayWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: object, trace: TracebackType | None
    ) -> None:
        with self._file:
            if kind is None:
                self._file.seek(0)
                description = {
                    "descr": np.lib.format.dtype_to_descr(self._dtype),
                    "fortran_order": False,
                    "shape": (self.length,),
                }
                np.lib.format.write_array_header_1_0(self._file, description)
                if self._file.tell() != _HEADER:
                    raise AssertionError(f"numpy wrote a header of {self._file.tell()} bytes")
