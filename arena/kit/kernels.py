"""Inner loops compiled by numba, and kept on disk where that can be."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba import njit

__all__ = ["kernel", "say_compiling"]


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Callable[..., Any]:
    """Compile a function with numba's `options`, without the interpreter lock; a decorator."""
    if function is None:
        return lambda function: kernel(function, **options)
    try:
        made: Callable[..., Any] = njit(cache=True, nogil=True, **options)(function)
    except RuntimeError:  # neither beside the code, nor below a home, can anything be written
        made = njit(nogil=True, **options)(function)
    return made


def say_compiling(kernel: Any) -> None:
    """Say on a terminal that numba will compile a kernel, unless it has done so before."""
    if not hasattr(kernel, "_cache"):  # NUMBA_DISABLE_JIT
        return
    if (kept := kernel._cache.cache_path) is None:
        print("Compiling the search, in each process: set NUMBA_CACHE_DIR to a folder that can be "
              "written, to keep it.", file=sys.stderr)  # fmt: skip
        return
    name = f"{kernel.py_func.__module__.rpartition('.')[2]}.{kernel.__name__}-*.nbi"
    if sys.stderr.isatty() and not next(Path(kept).glob(name), None):
        print("Compiling the search, once on this machine: some seconds.", file=sys.stderr)
