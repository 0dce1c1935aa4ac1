"""Processes of this machine: the executor named ``local``."""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from arena._signals import deaf_to_interrupts
from arena.errors import WorkerError
from corpus_builder.executors.base import EXECUTORS

T = TypeVar("T")
R = TypeVar("R")

_PR_SET_PDEATHSIG = 1


@EXECUTORS.register("local")
class Local:
    """Processes of this machine."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._pool: ProcessPoolExecutor | None = None

    def run(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """Yield the result of each task as it comes, in any order."""
        if self.workers == 1 or len(tasks) < 2:
            yield from map(function, tasks)
            return
        if self._pool is None:
            # Not forked: a fork copies the locks of DuckDB's and Arrow's threads as they are.
            self._pool = ProcessPoolExecutor(
                self.workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_die_with,
                initargs=(os.getpid(),),
            )
        with deaf_to_interrupts():
            futures: list[Future[R]] = [self._pool.submit(function, task) for task in tasks]
        try:
            for future in as_completed(futures):
                yield future.result()
        except BrokenProcessPool:
            raise WorkerError(
                "a process that worked for this build has ended; it may have been killed for want "
                "of memory. The same command goes on; give it fewer --workers or less --memory."
            ) from None
        finally:
            if any(not future.done() for future in futures):
                self._stop()

    def close(self) -> None:
        """End all processes."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
            self._pool = None

    def _stop(self) -> None:
        """End all processes without waiting for their tasks."""
        if self._pool is not None:
            for process in list((self._pool._processes or {}).values()):
                process.terminate()
            self.close()


def _die_with(parent: int) -> None:
    """Let this process end when `parent` does, however it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has ended before that
        os._exit(1)
