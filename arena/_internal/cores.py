"""How many processors this process may use, and how many threads a product of matrices takes."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

_ASKED = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")


def cores() -> int:
    """Return the number of processors, less those that the system keeps from this process."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1


def one_thread() -> AbstractContextManager[Any]:
    """Let numpy's linear algebra use one thread, unless the user asks for a number.

    The threads of several processes that share the cores wait for each other far longer than one
    thread computes. A user asks by the variable OMP_NUM_THREADS or that of the library.
    """
    if any(os.environ.get(name) for name in _ASKED):
        return nullcontext()
    return _controller().limit(limits=1, user_api="blas")  # type: ignore[no-any-return]


@lru_cache(1)
def _controller() -> Any:
    # It looks through all libraries: once.
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
