"""How a process shares the machine: its processors, the threads of linear algebra, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

__all__ = ["block_sigint_in_children", "cores", "one_thread"]

_ASKED = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
_LIBRARIES = ("scipy.linalg", "sklearn", "faiss", "torch")  # with threads of their own


def cores() -> int:
    """Return the number of processors, less those that the system keeps from this process."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1


@contextmanager
def one_thread(*, always: bool = False) -> Iterator[None]:
    """Let linear algebra and OpenMP use one thread; as a decorator ``@one_thread()``.

    Threads that share the cores with other processes wait for each other far longer than one thread
    computes. A user asks for more by the variable OMP_NUM_THREADS or that of the library, unless
    `always` says that more would show in the result.
    """
    if not always and any(os.environ.get(name) for name in _ASKED):
        yield
        return
    with _controller(*(name in sys.modules for name in _LIBRARIES)).limit(limits=1):
        yield


@lru_cache
def _controller(*loaded: bool) -> Any:
    """Return the controller of the libraries; it looks for them once for all that are `loaded`."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()


@contextmanager
def block_sigint_in_children() -> Iterator[None]:
    """Start child processes that ignore Ctrl-C: this process handles it for all of them."""
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # started later, it would undo the next line
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # which they inherit
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
