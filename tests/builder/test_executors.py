"""The executor local: what it yields, what ends it, and what is left of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.errors import DataError, WorkerError
from arena.executors import make_executor

TESTS = Path(__file__).parent


def squared(number: int) -> int:
    return number * number


def threads_of(task: int) -> str:
    return os.environ.get("OMP_NUM_THREADS", "")


def bad(number: int) -> int:
    if number == 5:
        raise DataError("5 is no good")
    return number


def end_suddenly(number: int) -> int:
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def sleep_long(directory: Path) -> None:
    (directory / str(os.getpid())).touch()
    time.sleep(300)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("tasks", [0, 1, 2, 37])
def test_every_task_once(workers: int, tasks: int) -> None:
    executor = make_executor("local", workers)
    try:
        assert sorted(executor.run(squared, range(tasks))) == [n * n for n in range(tasks)]
        assert sorted(executor.run(squared, iter([3, 2]))) == [4, 9]  # and again
    finally:
        executor.close()


def test_processes_start_no_threads_of_their_own() -> None:
    executor = make_executor("local", 2)
    assert set(executor.run(threads_of, range(4))) == {"1"}
    executor.close()


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_is_that_of_the_task(workers: int) -> None:
    executor = make_executor("local", workers)
    with pytest.raises(DataError, match="5 is no good"):
        list(executor.run(bad, range(20)))
    assert sorted(executor.run(squared, [1, 2, 3])) == [1, 4, 9]
    executor.close()


def test_a_killed_process_is_reported() -> None:
    executor = make_executor("local", 2)
    with pytest.raises(WorkerError, match="killed for want of memory"):
        list(executor.run(end_suddenly, range(20)))
    assert sorted(executor.run(squared, [1, 2, 3])) == [1, 4, 9]
    executor.close()


CODE = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from pathlib import Path
from arena.executors import make_executor
from test_executors import sleep_long
if __name__ == "__main__":
    list(make_executor("local", 2).run(sleep_long, [Path(sys.argv[1])] * 8))
"""


@pytest.mark.slow
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL, signal.SIGTERM])
def test_no_process_outlives_its_parent(tmp_path: Path, how: int) -> None:
    """Only the parent receives the signal, as from `kill`; a terminal sends it to all."""
    script, started = tmp_path / "script.py", tmp_path / "started"
    script.write_text(CODE)
    started.mkdir()
    with subprocess.Popen(
        [sys.executable, str(script), str(started)], stderr=subprocess.DEVNULL
    ) as parent:
        try:
            deadline = time.monotonic() + 60
            while len(list(started.iterdir())) < 2:
                assert time.monotonic() < deadline
                time.sleep(0.05)
            parent.send_signal(how)
            parent.wait(60)
        finally:
            parent.kill()
    assert parent.returncode in (-how, 1)
    pids = [int(path.name) for path in started.iterdir()]
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < deadline + 60
        time.sleep(0.05)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
