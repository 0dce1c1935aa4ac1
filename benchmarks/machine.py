"""The machine of a run, and how fast it can read: the floor under every search."""

from __future__ import annotations

import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit, prange

from arena._internal.cores import cores

_BYTES = 1 << 29
_ROUNDS = 7


def describe() -> dict[str, Any]:
    """Return the processor, cores, memory, system, and versions; no name of host or user."""
    return {
        "cpu": _cpu(),
        "cores": cores(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "python": platform.python_version(),
        "packages": {name: metadata.version(name) for name in ("numpy", "numba")},
    }


def limit(threads: int) -> None:
    """Let this process, its threads and its children use no more than `threads` cores."""
    if hasattr(os, "sched_setaffinity"):  # Linux
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def commit() -> str | None:
    """Return the git commit of the code, with ``+`` if files differ from it; None outside git."""
    root = Path(__file__).parent

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(root), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        changed = git("status", "--porcelain", "--", str(root.parent))
        return git("rev-parse", "HEAD") + ("+" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return None


def bandwidth() -> dict[str, float]:
    """Return bytes a second: summing 512 MB with one core and with all, and copying it.

    The best of seven rounds counts, since a floor must not be set by another process. A copy
    counts what it reads and what it writes.
    """
    from numba import get_num_threads

    array = np.ones(_BYTES // 8)
    target = np.empty_like(array)
    return {
        "read_one_core": _BYTES / _best(lambda: total_alone(array)),
        "read_all_cores": _BYTES / _best(lambda: total_together(array)),
        "copy_one_core": 2 * _BYTES / _best(lambda: np.copyto(target, array)),
        "cores": get_num_threads(),
    }


def _best(call: Callable[[], Any]) -> float:
    seconds = []
    for _ in range(_ROUNDS + 1):
        started = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - started)
    return min(seconds[1:])  # the first compiles, or touches the pages


def peak_memory() -> int:
    """Return the most bytes in memory of this process, or of the largest child that has ended.

    Pages of mapped files count.
    """
    unit = 1 if sys.platform == "darwin" else 1024
    child = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * unit
    try:
        lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
        # getrusage would count what the parent had when it started this process.
        own = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return max(own, child)


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@njit(cache=True, nogil=True, fastmath=True)
def total_alone(array) -> Any:  # type: ignore[no-untyped-def]
    """Return the sum, by one core."""
    total = 0.0
    for i in range(len(array)):
        total += array[i]
    return total


@njit(cache=True, nogil=True, fastmath=True, parallel=True)
def total_together(array) -> Any:  # type: ignore[no-untyped-def]
    """Return the sum, by all threads."""
    total = 0.0
    for i in prange(len(array)):
        total += array[i]
    return total
