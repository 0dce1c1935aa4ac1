"""How many processors this process may use."""

from __future__ import annotations

import os


def cores() -> int:
    """Return the number of processors, less those that the system keeps from this process."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # macOS
        return os.cpu_count() or 1
