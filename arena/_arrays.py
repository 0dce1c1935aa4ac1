"""Arrays on disk: read through a memory map, written as they come."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

_HEADER = 128


def load_array(path: Path) -> NDArray[Any]:
    """Return the array in a ``.npy`` file, memory-mapped and read-only."""
    if path.stat().st_size == _HEADER:  # an array without elements cannot be mapped
        return np.load(path)  # type: ignore[no-any-return]
    # A plain array over the map: numpy and numba handle it faster than an np.memmap.
    return np.load(path, mmap_mode="r").view(np.ndarray)  # type: ignore[no-any-return]


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
        array = np.asarray(values).astype(self._dtype, copy=False)
        self._file.write(array.tobytes())
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
