"""Threads of linear algebra: one, unless the user asks for more."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

CODE = """
import numpy, threadpoolctl
from arena.kit.process import one_thread

def most():
    return max(library["num_threads"] for library in threadpoolctl.threadpool_info())

@one_thread()
def decorated():
    return most()

before = most()
with one_thread():
    inside = most()
assert decorated() == inside
import scipy.linalg  # a library that comes later has threads of its own
with one_thread(always=True):
    assert most() == 1
assert most() == before
print(before, inside)
"""


@pytest.mark.parametrize(("asked", "expected"), [(None, "2 1\n"), ("2", "2 2\n")])
def test_one_thread(asked: str | None, expected: str) -> None:
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one processor has one thread")
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
    variables = {name: value for name, value in os.environ.items() if name not in names}
    variables |= {} if asked is None else {"OPENBLAS_NUM_THREADS": asked}
    code = "import os; os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])\n" + CODE
    done = subprocess.run(
        [sys.executable, "-c", code], env=variables, capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == (expected, "")
